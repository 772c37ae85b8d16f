import {
  type Action,
  anyTask,
  type EnvironmentContext,
  type Message,
  messageText,
  type Observation,
  observe,
  type ResetOptions,
  score,
  type SimulatedEnvironment,
  singleStep,
  type StepResult,
  type Task,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { gradeAttempt } from "./grade.ts";
import type { MathOptions } from "./options.ts";
import { promptOf } from "./prompt.ts";
import { scorerOf } from "./solution.ts";

/** Environment with one problem in an episode and up to `attempts` answers. */
export class MathEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext;
  readonly #options: MathOptions;
  #task: Task | undefined;
  #messages: readonly Message[] = [];
  #attempt = 0;

  constructor(context: EnvironmentContext, options: MathOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task);
    this.#attempt = 0;
    const { question: _question, ...info } = this.#task.public;
    this.#messages = promptOf(this.#task, this.#options);
    return observe(this.#messages, { info });
  }

  async step(action: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    this.#attempt++;
    this.#messages = [...this.#messages, action.message];
    const task = this.#task as Task;
    const { reward, correct, wellFormed } = await gradeAttempt(
      { response: messageText(action.message), messages: this.#messages, signal },
      task,
      this.#options,
      this.#context.scorer(scorerOf(task)),
    );
    const last = correct || !reward.scored || this.#attempt >= this.#options.attempts;
    if (last) return singleStep({ reward, terminated: true });
    const feedback = wellFormed
      ? "That is not right. Try again."
      : "There was no answer in the place asked for. Try again.";
    // Only the last attempt counts: else a policy would earn the reward for the form once for each failed attempt.
    const messages = [textMessage("user", feedback)];
    this.#messages = [...this.#messages, ...messages];
    return singleStep({ reward: score(0), messages });
  }
}
