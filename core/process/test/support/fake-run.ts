import type { ProcessResult, RunProcess } from "../../src/run-process.ts";

/** Returns a runner that answers with a function. Fields that the function omits mean success without output. */
export function fakeRun(answer: (command: string, args: readonly string[]) => Partial<ProcessResult>): RunProcess {
  return async (command, args, options) => {
    const result = { code: 0, signal: null, stdout: "", stderr: "", ...answer(command, args) };
    for (const line of result.stdout.split("\n")) options?.onLine?.(line);
    return result;
  };
}

/** Returns a runner in which some commands are Pythons. `pythons` has their answers to the probe by path. */
export function fakePythons(pythons: Readonly<Record<string, object | string>>): RunProcess {
  return fakeRun((command) => {
    const answer = pythons[command];
    if (answer === undefined) return { code: null, error: new Error(`spawn ${command} ENOENT`) };
    if (typeof answer === "string") return { code: 127, stderr: answer };
    const probe = {
      executable: command,
      version: "3.12.1",
      implementation: "cpython",
      wide: true,
      free_threaded: false,
      missing: [],
      ...answer,
    };
    return { stdout: `${JSON.stringify(probe)}\n` };
  });
}
