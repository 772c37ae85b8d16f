import { type Logger, MrlmError, type Reward } from "@mrlm/kit";
import { writeFiles } from "@mrlm/kit/service";
import type { Workspace } from "@mrlm/spec";
import { grade } from "./grade/grade.ts";
import { joined, meets, rewardOf, type Rewards } from "./grade/reward.ts";
import { VERIFIER_SECONDS, workdirOf } from "./open-task.ts";
import type { HarborTask, TaskStep } from "./task/task.ts";

/** Result of the tests of a step. */
export interface StepEnd {
  /** Instruction of the next step; `undefined` after the last one. */
  readonly next: string | undefined;
  readonly exitCode: number | null;
}

/** Steps of a task in its workspace: each begins with its files, and ends with its tests. */
export class TaskSteps {
  readonly #workspace: Workspace;
  readonly #task: HarborTask;
  readonly #logger: Logger;
  readonly #rewards: Rewards[] = [];
  /** Whether files of the policy prevent the next step, or nothing more is played. */
  #isCut = false;
  #isOver = false;
  #ending: Promise<StepEnd> | undefined;
  /** Snapshot of the files that tests work on. */
  #left: string | undefined;

  constructor(workspace: Workspace, task: HarborTask, logger: Logger) {
    this.#workspace = workspace;
    this.#task = task;
    this.#logger = logger;
  }

  get step(): TaskStep {
    return this.#task.steps[this.#rewards.length] as TaskStep;
  }

  /** Whether no step follows this one. */
  get isLast(): boolean {
    return this.#rewards.length >= this.#task.steps.length - 1;
  }

  /** Whether the last tests have run. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Writes the files of a step, and returns its instruction. */
  async begin(signal: AbortSignal): Promise<string> {
    const { workdir, instruction } = this.step;
    await writeFiles(this.#workspace, workdirOf(this.#task), workdir);
    if (workdir.some(({ path }) => path === "setup.sh")) {
      const limits = { timeoutMs: VERIFIER_SECONDS * 1_000, signal };
      const { exitCode, stderr } = await this.#workspace.exec("sh ./setup.sh", limits);
      if (exitCode !== 0)
        throw new MrlmError(
          "DATA_INVALID",
          `${this.#task.folder}: setup.sh of a step ended with exit code ${exitCode}: ${new TextDecoder().decode(stderr).slice(-500)}`,
        );
    }
    return instruction;
  }

  /** Grades a step, and begins the next one. @param isLast no step follows, whatever its reward */
  end(isLast: boolean, signal: AbortSignal): Promise<StepEnd> {
    const ending = this.#end(isLast, signal);
    this.#ending = ending;
    return ending;
  }

  /** Waits until no tests run. After aborted ones the files are those that the policy left. */
  async settled(): Promise<void> {
    await this.#ending?.catch(() => undefined);
    if (this.#left !== undefined) await this.#workspace.restore(this.#left);
  }

  async #end(isLast: boolean, signal: AbortSignal): Promise<StepEnd> {
    const { step } = this;
    const snapshot = await this.#workspace.snapshot({ ends: true });
    this.#left = snapshot;
    const { rewards, exitCode } = await grade(this.#workspace, this.#task, step, snapshot, {
      signal,
      logger: this.#logger,
    });
    this.#left = undefined;
    this.#rewards.push(rewards);
    const hasNext =
      this.#rewards.length < this.#task.steps.length &&
      typeof rewards !== "string" &&
      meets(rewards, step.config.min_reward);
    const next = hasNext && !isLast ? await this.#next(snapshot, signal) : undefined;
    this.#isCut = isLast || (hasNext && next === undefined);
    this.#isOver = next === undefined;
    return { next, exitCode };
  }

  /** Reward of the task, and the rewards by name. A policy whose context is full, or whose files prevent the next step, has not solved the steps that it did not read. */
  get total(): { readonly reward: Reward; readonly rewards: Rewards } {
    const last = this.#rewards.at(-1);
    const names = typeof last === "string" || last === undefined ? [] : Object.keys(last);
    const none = Object.fromEntries(names.map((name) => [name, 0]));
    const unseen = this.#isCut ? this.#task.steps.slice(this.#rewards.length).map(() => none) : [];
    const rewards = joined([...this.#rewards, ...unseen], this.#task.config.multi_step_reward_strategy);
    return { reward: rewardOf(rewards), rewards };
  }

  /** Begins the next step in the files of the last one; `undefined` where the policy left files that prevent it. */
  async #next(snapshot: string, signal: AbortSignal): Promise<string | undefined> {
    await this.#workspace.restore(snapshot);
    return this.begin(signal).catch((error: unknown) => {
      if (!MrlmError.hasCode(error, "DATA_INVALID")) throw error;
      this.#logger.warn(`The files that a policy left admit no next step: ${error.message}`);
      return undefined;
    });
  }
}
