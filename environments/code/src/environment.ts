import {
  type Action,
  anyTask,
  type EnvironmentContext,
  messageText,
  type Observation,
  observe,
  type ResetOptions,
  type Sandbox,
  score,
  type SimulatedEnvironment,
  singleStep,
  type StepResult,
  type Task,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { limitsOf } from "@mrlm/kit/options";
import { extractCode } from "./answer/extract-code.ts";
import { definesFunction } from "./answer/solution-code.ts";
import { feedbackOn } from "./feedback.ts";
import { hasPassed, rewardOf } from "./grade/rewards.ts";
import { runFunction } from "./grade/run-function.ts";
import { runProgram } from "./grade/run-program.ts";
import { testSeed } from "./grade/test-seed.ts";
import type { CodeOptions } from "./options.ts";
import type { Outcome } from "./problem/outcome.ts";
import { type Problem, problemOf, SANDBOXES } from "./problem/problem.ts";
import { promptOf } from "./prompt.ts";

/** Environment with one problem in an episode and up to `attempts` programs. */
export class CodeEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext;
  readonly #options: CodeOptions;
  #task: Task | undefined;
  #attempt = 0;

  constructor(context: EnvironmentContext, options: CodeOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task);
    this.#attempt = 0;
    const { question: _question, ...info } = this.#task.public;
    return observe(promptOf(this.#task, this.#options), { info });
  }

  async step(action: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    this.#attempt++;
    const isLast = this.#attempt >= this.#options.attempts;
    const outcome = await this.#run(messageText(action.message), problemOf(this.#task as Task), !isLast, signal);
    if (isLast || hasPassed(outcome))
      return singleStep({ reward: rewardOf(outcome, this.#options.rewards), terminated: true });
    // Only the last attempt counts: else a policy would earn partial rewards once for each failed attempt.
    return singleStep({ reward: score(0), messages: [textMessage("user", feedbackOn(outcome, this.#options.style))] });
  }

  async #run(response: string, problem: Problem, examples: boolean, signal: AbortSignal): Promise<Outcome> {
    const code = extractCode(
      response,
      problem.language,
      problem.kind === "program" ? undefined : (block) => definesFunction(block, problem),
    );
    if (code.trim() === "")
      return {
        ending: { kind: "nothing" },
        tests: problem.tests.map(({ visible }) => ({ shown: "", visible, counted: true, passed: false, raised: true })),
      };
    const seed = testSeed((this.#task as Task).id, this.#options.test_seed);
    const run = { sandbox: this.#sandbox(), limits: limitsOf(this.#options.limits), signal, seed };
    return problem.kind === "function" ? runFunction(code, problem, examples, run) : runProgram(code, problem, run);
  }

  #sandbox(): Sandbox {
    return this.#context.sandbox(SANDBOXES[this.#options.language]);
  }
}
