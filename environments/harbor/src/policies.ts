import {
  callMessage,
  type EnvironmentContext,
  type Message,
  messageText,
  type Observation,
  type Policy,
  textMessage,
  MrlmError,
} from "@mrlm/kit";
import { exported, workdirOf } from "./open-task.ts";
import { shellQuoted } from "./task/dockerfile.ts";
import { type HarborTask, readTask, type TaskStep } from "./task/task.ts";
import type { Hidden, Shown } from "./tasks.ts";

/** Returns the call that writes and runs the worked solution of a step. Throws DATA_INVALID where the task has none. */
export function solutionCall(task: HarborTask, step: TaskStep): Message {
  if (!step.solution.some(({ path }) => path === "solve.sh"))
    throw new MrlmError("DATA_INVALID", `${task.folder}/solution/solve.sh: the file is missing.`, {
      hint: "It is the worked solution, which must earn the reward 1.",
    });
  const files = step.solution.map(({ path, bytes, isExecutable }) => {
    const to = shellQuoted(`/solution/${path}`);
    const written = `mkdir -p "$(dirname ${to})" && base64 -d > ${to} <<'EOF'\n${Buffer.from(bytes).toString("base64")}\nEOF`;
    return isExecutable ? `${written}\nchmod +x ${to}` : written;
  });
  const run = `(cd ${shellQuoted(workdirOf(task))}; ${exported(task.config.solution.env).replaceAll("\n", "; ")}\nchmod +x /solution/solve.sh; /solution/solve.sh)`;
  return callMessage("bash", { command: [...files, run].join("\n") });
}

/** Ends a step. */
export const DONE = textMessage("assistant", "Done.");

/** Returns the policy that runs the worked solution of each step. */
export function oracle(context: EnvironmentContext): Policy {
  let task: HarborTask | undefined;
  let step = 0;
  return {
    async act({ agent, messages, info }: Observation) {
      const last = messages.at(-1);
      task ??= await taskOf(context as EnvironmentContext<Shown, Hidden>, String(info?.["task"]), last);
      const message = last?.role === "user" ? solutionCall(task, task.steps[step++] as TaskStep) : DONE;
      return { agent, message, finishReason: "stop" };
    },
  };
}

/** Returns the policy that does nothing. */
export function nop(): Policy {
  return { act: async ({ agent }) => ({ agent, message: DONE, finishReason: "stop" }) };
}

/** Finds the task of an observation. */
async function taskOf(
  { tasks }: EnvironmentContext<Shown, Hidden>,
  name: string,
  last: Message | undefined,
): Promise<HarborTask> {
  const instruction = last === undefined ? "" : messageText(last);
  for (const [split, size] of Object.entries(tasks.splits))
    for (let index = 0; index < size; index++) {
      const { public: shown, private: hidden } = await tasks.get(split, index);
      if (shown.name === name && shown.instruction === instruction) return readTask(hidden.folder);
    }
  throw new MrlmError("TASK_NOT_FOUND", `There is no task ${name} with the instruction that was observed.`);
}
