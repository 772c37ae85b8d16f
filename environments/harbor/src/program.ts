import { MrlmError, type Reward, type Task } from "@mrlm/kit";
import {
  agentEnvironment,
  type AgentEnding,
  type AgentRun,
  howEnded,
  openProgram,
  type ProgramWorkspace,
} from "@mrlm/kit/agent";
import { folderFiles, writeFiles } from "@mrlm/kit/service";
import { openTask, VERIFIER_SECONDS } from "./open-task.ts";
import type { HarborOptions } from "./options.ts";
import { readTask } from "./task/task.ts";
import { TaskSteps } from "./task-steps.ts";
import { harborTasks, type Hidden, type Shown } from "./tasks.ts";

/** Time of a step whose task states none, in seconds. */
const STEP_SECONDS = 1_800;
/** Longest time of a program with the tests between its steps, in seconds: below the deadline of the host by the longest tests. */
const MAX_SECONDS = 21_000;
/** Folder of the files of a program. */
const FOLDER = "/agent";

/** Program of an episode. */
interface Program {
  readonly space: ProgramWorkspace;
  readonly steps: TaskSteps;
  /** That of the first step. */
  readonly instruction: string;
}

type Options = Omit<HarborOptions, "program"> & { readonly program: NonNullable<HarborOptions["program"]> };

/** `harbor@1` with a program in place of tools. It runs once for each step, and the tests grade what it leaves, however it ends. */
export const programs = agentEnvironment<Options, Shown, Hidden, Program>({
  id: "harbor@1",
  description: "Tasks of a shell, solved by a program that calls the policy as a model.",
  determinism: "none",
  tasks: harborTasks,
  async limits({ program }, { private: { folder } }) {
    const { config, steps } = await readTask(folder);
    const times = steps.map(({ config: step }) => step.agent.timeout_sec ?? config.agent.timeout_sec ?? STEP_SECONDS);
    // Tests between two steps, and what prepares the next one, run in the time of the program.
    const between = steps
      .slice(0, -1)
      .map(
        ({ config: step }) =>
          (step.verifier.timeout_sec ?? config.verifier.timeout_sec ?? VERIFIER_SECONDS) + VERIFIER_SECONDS,
      );
    const totalSeconds = Math.min(
      MAX_SECONDS,
      [...times, ...between].reduce((sum, each) => sum + each, 0),
    );
    return { calls: program.calls, seconds: totalSeconds, totalSeconds };
  },
  open: openHarbor,
  run: runHarbor,
  score: scoreHarbor,
});

async function openHarbor(
  episode: Omit<AgentRun<Options, Shown>, "opened">,
  { private: { folder } }: Task<Shown, Hidden>,
): Promise<Program> {
  const { options, context, signal } = episode;
  const { files, env } = options.program;
  const path = files === undefined ? undefined : context.dataPath(files);
  const copied = path === undefined ? [] : await folderFiles(path);
  if (path !== undefined && copied.length === 0)
    throw new MrlmError("DATA_INVALID", `${path} has no files.`, {
      hint: "`program.files` is a folder of the program.",
    });
  const task = await readTask(folder);
  let space!: ProgramWorkspace;
  const workspace = await openTask(options, task, signal, async (given) => {
    space = await openProgram(episode, { ...given, programEnv: env, hasPort: true });
    return space.workspace;
  });
  await writeFiles(workspace, FOLDER, copied);
  const steps = new TaskSteps(workspace, task, context.logger);
  const instruction = await steps.begin(signal);
  await space.connect();
  return { space, steps, instruction };
}

async function runHarbor({ opened, options, signal }: AgentRun<Options, Shown, Program>): Promise<string> {
  const { space, steps } = opened;
  for (let stdin = opened.instruction; ;) {
    const result = await space.run(options.program.command, { stdin });
    if (result.exitCode !== 0) throw new Error(`the program ${howEnded(result)}`);
    // The tests of the last step are the score.
    const { next } = steps.isLast ? { next: undefined } : await steps.end(false, signal);
    if (next === undefined) return howEnded(result);
    await space.connect();
    stdin = next;
  }
}

async function scoreHarbor({
  opened: { space, steps },
  end,
  signal,
}: AgentEnding<Options, Shown, Hidden, Program>): Promise<Reward> {
  try {
    await space.ended();
    await steps.settled();
    if (!steps.isOver) await steps.end(end.kind !== "returned", signal);
    return steps.total.reward;
  } finally {
    await space.workspace.close();
  }
}
