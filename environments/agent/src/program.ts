import { defined, MrlmError } from "@mrlm/kit";
import { type AgentRun, howEnded, openProgram, type ProgramWorkspace } from "@mrlm/kit/agent";
import { workspaceLimitsOf } from "@mrlm/kit/options";
import { folderFiles, writeFiles } from "@mrlm/kit/service";
import type { AgentOptions } from "./options.ts";
import type { Shown } from "./tasks.ts";

/** Working directory of programs. */
const WORKDIR = "/workspace";
/** Characters of the output of a program that a limit ended. */
const MAX_OUTPUT = 1 << 20;

/** Program of an episode. */
export interface Program {
  readonly space: ProgramWorkspace;
  /** Text that it has printed to stdout. */
  stdout: string;
}

/** Opens the workspace of a program, with its files, after `setup`. Rejects with DATA_INVALID where the files or `setup` fail. */
export async function openAgent(episode: Omit<AgentRun<AgentOptions, Shown>, "opened">): Promise<Program> {
  const { options, task, context, signal } = episode;
  const { image, env, files, setup, address, limits } = options;
  const folder = files === undefined ? undefined : context.dataPath(files);
  const copied = folder === undefined ? [] : await folderFiles(folder);
  if (folder !== undefined && copied.length === 0)
    throw new MrlmError("DATA_INVALID", `${folder} has no files.`, {
      hint: "`files` is a folder relative to the configuration; on a server that a run did not start itself, to its --data-root.",
    });
  const space = await openProgram(episode, {
    ...defined({ image }),
    ...{ programEnv: env, workdir: WORKDIR, hasPort: address === "http" },
    limits: { cpuMs: limits.total_seconds * 1_000, ...workspaceLimitsOf(options.workspace) },
  });
  const { workspace } = space;
  await writeFiles(workspace, WORKDIR, copied);
  for (const [path, text] of Object.entries(task.public.files)) await workspace.writeFile(path, text);
  if (setup !== undefined) {
    const result = await workspace.exec(space.withVariables(setup), { timeoutMs: limits.seconds * 1_000, signal });
    if (result.exitCode !== 0)
      throw new MrlmError("DATA_INVALID", `\`setup\` ${howEnded(result)}`, {
        hint: "It has no network. Put what it needs into `files` or into the image of the option `image`.",
      });
  }
  if (address === "http") await space.connect();
  return { space, stdout: "" };
}

/** Runs the program. Returns how it ended; throws unless that is the exit code 0. */
export async function runAgent({ opened, options, task }: AgentRun<AgentOptions, Shown, Program>): Promise<string> {
  // The output of a program that a limit ends.
  const decoder = new TextDecoder();
  const onOutput = (bytes: Uint8Array, stream: "stdout" | "stderr"): void => {
    if (stream === "stdout")
      opened.stdout = (opened.stdout + decoder.decode(bytes, { stream: true })).slice(-MAX_OUTPUT);
  };
  const result = await opened.space.run(options.command, { stdin: task.public.instruction, onOutput });
  opened.stdout = Buffer.from(result.stdout).toString();
  if (result.exitCode !== 0) throw new Error(`the program ${howEnded(result)}`);
  return howEnded(result);
}
