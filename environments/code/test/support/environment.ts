import { randomStream } from "@mrlm/kit";
import { type EnvironmentContext, type JsonObject, MrlmError, type Sandbox, type StepResult, type TaskSource } from "@mrlm/spec";
import { code } from "../../src/index.ts";
import { type CodeOptions, codeOptions } from "../../src/options.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => logger } as unknown as EnvironmentContext["logger"];

/** The environment under some options, with what a host would give it: sandboxes and nothing else. */
export interface Prepared {
  readonly options: CodeOptions;
  readonly tasks: TaskSource;
  readonly context: EnvironmentContext;
  /** Plays one reply after the other on a task and returns what came back. */
  play(task: string, replies: readonly string[]): Promise<StepResult[]>;
}

/** Prepares it; every language is run by the one sandbox. */
export async function prepare(given: JsonObject, sandbox: Sandbox): Promise<Prepared> {
  const options = codeOptions.parse(given);
  const before = contextWith({ splits: {}, get: () => Promise.reject(new Error("no tasks yet")) }, sandbox);
  const tasks = (await code.tasks?.(before, options)) as TaskSource;
  const context = contextWith(tasks, sandbox);
  return {
    options,
    tasks,
    context,
    async play(task, replies) {
      const signal = new AbortController().signal;
      const environment = await code.create(context, options);
      await environment.reset({ task, signal });
      const steps: StepResult[] = [];
      for (const text of replies) {
        steps.push(await environment.step({ agent: "agent", message: { role: "assistant", parts: [{ type: "text", text }] }, finishReason: "stop" }, { signal }));
      }
      return steps;
    },
  };
}

function contextWith(tasks: TaskSource, sandbox: Sandbox): EnvironmentContext {
  const refuse = (what: string): never => {
    throw new MrlmError("REQUIREMENT_UNDECLARED", `${what} is not declared`);
  };
  return { logger, tasks, random: randomStream, sandbox: (language) => (["python", "javascript"].includes(language) ? sandbox : refuse(language)), scorer: refuse, judge: refuse, tool: refuse, dataPath: (path) => path };
}
