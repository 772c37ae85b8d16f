import { randomStream } from "@mrlm/kit";
import { type EnvironmentContext, type JsonObject, MrlmError, type Scorer, type StepResult, type TaskSource } from "@mrlm/spec";
import { math } from "../../src/index.ts";
import { type MathOptions, mathOptions } from "../../src/options.ts";
import { mathScorer } from "./math-scorer.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger } as unknown as EnvironmentContext["logger"];

/** The environment under some options, with what a host would give it: `scorer:math@1` and nothing else. */
export interface Prepared {
  readonly options: MathOptions;
  readonly tasks: TaskSource;
  readonly context: EnvironmentContext;
  /** Plays one reply after the other on a task and returns what came back. */
  play(task: string, replies: readonly string[]): Promise<StepResult[]>;
}

/** Prepares it. */
export async function prepare(given: JsonObject = {}, scorer?: Scorer): Promise<Prepared> {
  const options = mathOptions.parse(given);
  const used = scorer ?? (await mathScorer());
  const before = contextWith({ splits: {}, get: () => Promise.reject(new Error("no tasks yet")) }, used);
  const tasks = (await math.tasks?.(before, options)) as TaskSource;
  const context = contextWith(tasks, used);
  return {
    options,
    tasks,
    context,
    async play(task, replies) {
      const signal = new AbortController().signal;
      const environment = await math.create(context, options);
      await environment.reset({ task, signal });
      const steps: StepResult[] = [];
      for (const text of replies) {
        steps.push(await environment.step({ agent: "agent", message: { role: "assistant", parts: [{ type: "text", text }] }, finishReason: "stop" }, { signal }));
      }
      return steps;
    },
  };
}

function contextWith(tasks: TaskSource, scorer: Scorer): EnvironmentContext {
  const refuse = (what: string): never => {
    throw new MrlmError("REQUIREMENT_UNDECLARED", `${what} is not declared`);
  };
  return {
    logger,
    tasks,
    random: randomStream,
    scorer: (id) => (["math@1", "math"].includes(id) ? scorer : refuse(id)),
    judge: refuse,
    sandbox: refuse,
    tool: refuse,
    dataPath: (path) => path,
  };
}
