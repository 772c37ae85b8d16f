import { availableParallelism } from "node:os";
import { posix } from "node:path";
import { defined, MrlmError } from "@mrlm/kit";
import { writeFiles } from "@mrlm/kit/service";
import type { Workspace, WorkspaceLimits, WorkspaceOptions } from "@mrlm/spec";
import { baseOf } from "./base.ts";
import type { HarborOptions } from "./options.ts";
import { type BuildStep, shellQuoted } from "./task/dockerfile.ts";
import { invalidTask } from "./task/place.ts";
import type { HarborTask } from "./task/task.ts";

const MEGABYTE = 2 ** 20;
/** Output of a command that a policy reads. */
const OUTPUT_BYTES = 16 * 1024;
/** Working directory of a task that states none: the root folder of a workspace is read-only. */
const WORKDIR = "/workspace";
/** Folders of the root that programs may expect, with those of the format. */
const FOLDERS = ["home", "logs", "mnt", "opt", "solution", "srv"];

/** Builds that run in this process, by their key. */
const building = new Map<string, Promise<unknown>>();

/**
 * Opens a workspace with the files of a task as its policy finds them. They are built once. Rejects with DATA_INVALID, which names the line that failed.
 * @param open opens the workspace
 */
export async function openTask(
  options: HarborOptions,
  task: HarborTask,
  signal: AbortSignal,
  open: (options: WorkspaceOptions) => Promise<Workspace>,
): Promise<Workspace> {
  const image = baseOf(task, options);
  const opening = open({
    ...defined({ image }),
    env: { ...task.dockerfile?.env, ...task.config.environment.env },
    workdir: workdirOf(task),
    limits: limitsOf(task),
    signal,
  });
  const workspace = await opening.catch((error: unknown) => {
    throw MrlmError.hasCode(error, "DATA_INVALID")
      ? invalidTask(task.place, `WORKDIR ${workdirOf(task)}: ${error.message.replace(/\.$/, "")}`, error.hint)
      : error;
  });
  const key = buildKeyOf(task);
  const own = `${image ?? ""}\n${key}`;
  // Episodes of a group begin together, with one build.
  while (!(await restored(workspace, key))) {
    const other = building.get(own);
    if (other !== undefined) {
      await other.catch(() => undefined);
      continue;
    }
    const build = runBuild(workspace, task, signal).then(() => workspace.snapshot({ ends: true, key }));
    building.set(own, build);
    await build.finally(() => building.delete(own));
    break;
  }
  return workspace;
}

/** Name of the snapshot of the built files. */
export function buildKeyOf(task: HarborTask): string {
  return `harbor@1/${task.buildKey}/${workdirOf(task)}`;
}

/** Working directory of commands of a task. */
export function workdirOf({ config, dockerfile }: HarborTask): string {
  const found = config.environment.workdir ?? dockerfile?.workdir ?? "/";
  return found === "/" ? WORKDIR : found;
}

async function restored(workspace: Workspace, key: string): Promise<boolean> {
  try {
    await workspace.restore(key);
    return true;
  } catch (error) {
    if (MrlmError.hasCode(error, "OPTIONS_INVALID")) return false;
    throw error;
  }
}

async function runBuild(workspace: Workspace, task: HarborTask, signal: AbortSignal): Promise<void> {
  const { dockerfile, config } = task;
  const steps = dockerfile?.steps ?? [];
  // Variables of task.toml are those of episodes: kept builds do not depend on them.
  const variables = { ...config.environment.env, ...dockerfile?.env };
  const runs = steps.filter((step) => step.kind === "run");
  const named = [...steps.map(({ workdir }) => workdir), ...runs.map(({ command }) => command)].join("\n");
  const roots = [...named.matchAll(/(?<![\w.~$}])\/([\w-]+)/g)].map(([, name]) => name as string);
  await makeRootFolders(workspace, [...FOLDERS, ...roots]);
  await workspace.exec("mkdir -p /logs/agent /logs/artifacts");
  const ends = performance.now() + config.environment.build_timeout_sec * 1000;
  for (const step of steps) await follow(workspace, step, { variables, ends, signal });
}

async function follow(
  workspace: Workspace,
  step: BuildStep,
  {
    variables,
    ends,
    signal,
  }: { readonly variables: Readonly<Record<string, string>>; readonly ends: number; readonly signal: AbortSignal },
): Promise<void> {
  if (step.kind === "copy") {
    for (const { to, file } of step.files)
      await writeFiles(workspace, "/", [{ ...file, path: to }]).catch((error: unknown) => {
        throw MrlmError.hasCode(error, "DATA_INVALID")
          ? invalidTask(step.place, error.message.replace(/\.$/, ""), error.hint)
          : error;
      });
    return;
  }
  // A variable of a later line is not there yet.
  const later = Object.keys(variables).filter((name) => !Object.hasOwn(step.env, name));
  const command = [
    ...(later.length > 0 ? [`unset ${later.join(" ")}`] : []),
    exported(step.env),
    // Folders of the root are there before the command that makes them.
    'mkdir() { command mkdir -p "$@"; }',
    `mkdir -p ${shellQuoted(step.workdir)} 2>/dev/null; cd ${shellQuoted(step.workdir)}`,
    step.command,
  ].join("\n");
  const left = ends - performance.now();
  const result = left > 0 ? await workspace.exec(command, { timeoutMs: Math.ceil(left), signal }) : undefined;
  if (result?.exitCode === 0) return;
  const why =
    result === undefined || result.timedOut
      ? "met the time limit of the build"
      : `ended with ${result.limit ?? `exit code ${result.exitCode}`}`;
  const printed = Buffer.from(result === undefined ? [] : [...result.stdout, ...result.stderr])
    .toString()
    .trim()
    .slice(-1000);
  throw invalidTask(
    step.place,
    `RUN ${why}${printed === "" ? "" : `: ${printed}`}`,
    "Commands of a build have no network here. Put what they need into the base that the option `bases` names, or copy it from the folder environment/.",
  );
}

/** Returns commands that set variables. */
export function exported(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}`)
    .join("\n");
}

/** Makes folders in the root folder, which programs cannot. */
async function makeRootFolders(workspace: Workspace, names: readonly string[]): Promise<void> {
  const made: string[] = [];
  for (const name of new Set(names)) {
    if ((await workspace.list(`/${name}`)) !== undefined) continue;
    const path = posix.join("/", name, ".mrlm");
    try {
      await workspace.writeFile(path, "");
      made.push(path);
    } catch (error) {
      // A file or a folder of the host has the name.
      if (!MrlmError.hasCode(error, "DATA_INVALID")) throw error;
    }
  }
  if (made.length > 0) await workspace.exec(`rm -f ${made.join(" ")}`);
}

/** Limits of the workspace: those of the task, else those of the provider. Each command has a time limit of its own below them. */
function limitsOf({ config, steps }: HarborTask): Partial<WorkspaceLimits> {
  const { environment, agent, verifier } = config;
  const own = steps.flatMap((step) => [step.config.agent.timeout_sec ?? 0, step.config.verifier.timeout_sec ?? 0]);
  const timeoutMs =
    1000 *
    Math.max(
      VERIFIER_SECONDS,
      environment.build_timeout_sec,
      agent.timeout_sec ?? 0,
      verifier.timeout_sec ?? 0,
      ...own,
    );
  const memory = environment.memory_mb ?? megabytes(environment.memory);
  const storage = environment.storage_mb ?? megabytes(environment.storage);
  return {
    timeoutMs,
    cpuMs: timeoutMs * Math.ceil(environment.cpus ?? availableParallelism()),
    outputBytes: OUTPUT_BYTES,
    ...(memory !== undefined && { memoryBytes: memory * MEGABYTE }),
    ...(storage !== undefined && { diskBytes: storage * MEGABYTE }),
  };
}

/** Time limit of tests where the task states none, in seconds. */
export const VERIFIER_SECONDS = 600;

function megabytes(size: string | undefined): number | undefined {
  if (size === undefined) return undefined;
  const factor = { G: 1024, M: 1, K: 1 / 1024 }[size.slice(-1).toUpperCase()] as number;
  return Math.max(1, Math.floor(Number(size.slice(0, -1)) * factor));
}
