import { execFile } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { agentEnvironment } from "@mrlm/kit/agent";
import { isAlive } from "@mrlm/process";
import type { EnvironmentDefinition } from "@mrlm/spec";

const PROGRAM = fileURLToPath(new URL("calling-program.mjs", import.meta.url));
const run = promisify(execFile);

/** Environment whose programs are processes. The reward is the number of letters "a" in what a program prints. @param folder of the files of its processes */
export function processPrograms(folder: string): EnvironmentDefinition<any> {
  return agentEnvironment<unknown, { readonly index: number }, {}>({
    id: "processes@1",
    description: "Programs in processes.",
    tasks: () => ({
      splits: { train: 64, eval: 0 },
      get: async (split, index) => ({ id: `${split}/${index}`, public: { index }, private: {} }),
    }),
    rewardRange: [0, 100],
    async run({ model, task, signal }) {
      const { env } = await model.listen();
      const question = String(task.public.index);
      const options = { env, signal, killSignal: "SIGKILL" } as const;
      const { stdout } = await run(process.execPath, [PROGRAM, question, folder], options);
      return stdout;
    },
    score: ({ end }) => (end.kind === "returned" ? String(end.result).split("a").length - 1 : undefined),
  });
}

/** Returns the number of answers that programs have read, and of programs that run. */
export function countPrograms(folder: string): { readonly answers: number; readonly running: number } {
  const pids = readdirSync(folder);
  const answers = pids.reduce((sum, pid) => sum + statSync(join(folder, pid)).size, 0);
  return { answers, running: pids.map(Number).filter(isAlive).length };
}
