import {
  type Action,
  anyTask,
  callTools,
  type EnvironmentContext,
  type Message,
  MrlmError,
  type Observation,
  observe,
  type ResetOptions,
  type SimulatedEnvironment,
  singleStep,
  type StepResult,
  taskById,
  textMessage,
  type Tool,
} from "@mrlm/kit";
import { writeFiles } from "@mrlm/kit/service";
import type { Workspace } from "@mrlm/spec";
import { grade } from "./grade/grade.ts";
import { joined, meets, rewardOf, type Rewards } from "./grade/reward.ts";
import { openTask, workdirOf } from "./open-task.ts";
import type { HarborOptions } from "./options.ts";
import { type HarborTask, readTask, type TaskStep } from "./task/task.ts";
import type { Hidden, Shown } from "./tasks.ts";

/** Environment with one task in an episode. A message without a call ends a step of the task, which its tests then grade. */
export class HarborEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<Shown, Hidden>;
  readonly #options: HarborOptions;
  #task!: HarborTask;
  #workspace!: Workspace;
  #tools: readonly Tool[] = [];
  #rewards: Rewards[] = [];
  #turn = 0;
  /** Time of calls in this step. That of the model does not count: it depends on the machine that samples. */
  #usedMs = 0;

  constructor(context: EnvironmentContext<Shown, Hidden>, options: HarborOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed, task: id, signal }: ResetOptions): Promise<Observation> {
    const task = await taskById(this.#context.tasks, id ?? anyTask(this.#context, seed ?? 0));
    this.#task = await readTask(task.private.folder);
    this.#workspace = await openTask(this.#context, this.#options, this.#task, signal);
    const shown = { id: task.id, public: task.public };
    const opened = await this.#context
      .tools("shell@1")
      .open({ task: shown, seed: seed ?? null, workspace: this.#workspace, signal });
    this.#tools = opened.tools;
    this.#rewards = [];
    const instruction = await this.#begin(signal);
    const tools = this.#tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    return observe([instruction], { tools, info: { task: this.#task.name } });
  }

  async step({ message, finishReason }: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    if (finishReason === "exhausted") return this.#end([], { isLast: true, signal });
    const isCall = message.parts.some(({ type }) => type === "tool-call" || type === "malformed-call");
    if (!isCall) return this.#end([], { signal });
    this.#turn++;
    const results = await this.#call(message, signal);
    const isOver = results === undefined || this.#turn >= this.#options.turns;
    return isOver ? this.#end(results ?? [], { isLimit: true, signal }) : singleStep({ messages: results });
  }

  get #step(): TaskStep {
    return this.#task.steps[this.#rewards.length] as TaskStep;
  }

  /** Writes the files of a step, and returns its instruction. */
  async #begin(signal: AbortSignal): Promise<Message> {
    const { workdir, instruction } = this.#step;
    this.#turn = 0;
    this.#usedMs = 0;
    await writeFiles(this.#workspace, workdirOf(this.#task), workdir);
    if (workdir.some(({ path }) => path === "setup.sh")) {
      const { exitCode, stderr } = await this.#workspace.exec("sh ./setup.sh", { signal });
      if (exitCode !== 0)
        throw new MrlmError(
          "DATA_INVALID",
          `${this.#task.folder}: setup.sh of a step ended with exit code ${exitCode}: ${new TextDecoder().decode(stderr).slice(-500)}`,
        );
    }
    return textMessage("user", instruction);
  }

  /** Begins the next step in the files of the last one; `undefined` where the policy left files that prevent it. */
  async #next(snapshot: string, signal: AbortSignal): Promise<Message | undefined> {
    await this.#workspace.restore(snapshot);
    return this.#begin(signal).catch((error: unknown) => {
      if (!MrlmError.hasCode(error, "DATA_INVALID")) throw error;
      this.#context.logger.warn(`The files that a policy left admit no next step: ${error.message}`);
      return undefined;
    });
  }

  /** Runs the calls of a message; `undefined` if the time of the step is over. */
  async #call(message: Message, signal: AbortSignal): Promise<Message[] | undefined> {
    const seconds = this.#step.config.agent.timeout_sec ?? this.#task.config.agent.timeout_sec;
    const began = performance.now();
    const late =
      seconds === undefined ? undefined : AbortSignal.timeout(Math.max(0, Math.ceil(seconds * 1000 - this.#usedMs)));
    try {
      return await callTools(this.#tools, message, {
        signal: late === undefined ? signal : AbortSignal.any([signal, late]),
      });
    } catch (error) {
      if (late?.aborted === true && !signal.aborted) return undefined;
      throw error;
    } finally {
      this.#usedMs += performance.now() - began;
    }
  }

  /** Grades a step, and begins the next one or ends the episode. */
  async #end(
    messages: readonly Message[],
    {
      isLast = false,
      isLimit = isLast,
      signal,
    }: { readonly isLast?: boolean; readonly isLimit?: boolean; readonly signal: AbortSignal },
  ): Promise<StepResult> {
    const step = this.#step;
    const { rewards, snapshot, exitCode } = await grade(this.#workspace, this.#task, step, {
      signal,
      logger: this.#context.logger,
    });
    this.#rewards.push(rewards);
    const { steps } = this.#task;
    const continues =
      !isLast &&
      this.#rewards.length < steps.length &&
      typeof rewards !== "string" &&
      meets(rewards, step.config.min_reward);
    const next = continues ? await this.#next(snapshot, signal) : undefined;
    if (next !== undefined) return singleStep({ messages: [...messages, next] });
    const none = typeof rewards === "string" ? {} : Object.fromEntries(Object.keys(rewards).map((name) => [name, 0]));
    // A policy whose context is full, or whose files prevent the next step, has not solved the steps that it did not see.
    const unseen = isLast || continues ? steps.slice(this.#rewards.length).map(() => none) : [];
    const total = joined([...this.#rewards, ...unseen], this.#task.config.multi_step_reward_strategy);
    return singleStep({
      reward: rewardOf(total),
      ...(isLimit ? { truncated: true } : { terminated: true }),
      info: { exit_code: exitCode, ...(typeof total !== "string" && { rewards: total }) },
    });
  }
}
