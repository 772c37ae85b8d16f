import {
  type Action,
  anyTask,
  callTools,
  type EnvironmentContext,
  type Message,
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
import { openTask } from "./open-task.ts";
import type { HarborOptions } from "./options.ts";
import { type HarborTask, readTask } from "./task/task.ts";
import { TaskSteps } from "./task-steps.ts";
import type { Hidden, Shown } from "./tasks.ts";

/** Environment with one task in an episode. A message without a call ends a step of the task, which its tests then grade. */
export class HarborEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<Shown, Hidden>;
  readonly #options: HarborOptions;
  #task!: HarborTask;
  #steps!: TaskSteps;
  #tools: readonly Tool[] = [];
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
    const workspaces = this.#context.workspaces("linux");
    const workspace = await openTask(this.#options, this.#task, signal, (given) => workspaces.open(given));
    const opened = await this.#context
      .tools("shell@1")
      .open({ task: { id: task.id, public: task.public }, seed: seed ?? null, workspace, signal });
    this.#tools = opened.tools;
    this.#steps = new TaskSteps(workspace, this.#task, this.#context.logger);
    const instruction = this.#begin(await this.#steps.begin(signal));
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

  /** Begins the counts of a step, and returns its instruction. */
  #begin(instruction: string): Message {
    this.#turn = 0;
    this.#usedMs = 0;
    return textMessage("user", instruction);
  }

  /** Runs the calls of a message; `undefined` if the time of the step is over. */
  async #call(message: Message, signal: AbortSignal): Promise<Message[] | undefined> {
    const seconds = this.#steps.step.config.agent.timeout_sec ?? this.#task.config.agent.timeout_sec;
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
    const { next, exitCode } = await this.#steps.end(isLast, signal);
    if (next !== undefined) return singleStep({ messages: [...messages, this.#begin(next)] });
    const { reward, rewards } = this.#steps.total;
    return singleStep({
      reward,
      ...(isLimit ? { truncated: true } : { terminated: true }),
      info: { exit_code: exitCode, ...(typeof rewards !== "string" && { rewards }) },
    });
  }
}
