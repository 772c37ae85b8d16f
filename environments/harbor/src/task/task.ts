import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { decodeUtf8, folderFiles, type FolderFile } from "@mrlm/kit/service";
import { readConfig, type StepConfig, type TaskConfig } from "./config.ts";
import { type Dockerfile, readDockerfile } from "./dockerfile.ts";
import { invalidTask, needsDocker, unreadable } from "./place.ts";

/** Part of a task with its own instruction and tests. A task without steps has one. */
export interface TaskStep {
  readonly config: Pick<StepConfig, "agent" | "verifier" | "min_reward" | "artifacts">;
  readonly instruction: string;
  /** Files of `tests/`, and of the step above them. */
  readonly tests: readonly FolderFile[];
  /** Files of the worked solution. Empty where the task has none. */
  readonly solution: readonly FolderFile[];
  /** Files for the working directory before the step. */
  readonly workdir: readonly FolderFile[];
}

/** Task as its folder states it. */
export interface HarborTask {
  readonly name: string;
  readonly folder: string;
  readonly config: TaskConfig;
  readonly steps: readonly [TaskStep, ...TaskStep[]];
  /** Image that the task names, and its place. */
  readonly from: string;
  readonly place: string;
  readonly dockerfile: Dockerfile | undefined;
  /** Hash of all that the files of a new workspace depend on, besides its base. */
  readonly buildKey: string;
}

const COMPOSE = ["docker-compose.yaml", "docker-compose.yml", "compose.yaml", ".dockerignore"];

/** Reads a task and checks all its parts. Rejects with DATA_INVALID, which names file and line. */
export async function readTask(folder: string): Promise<HarborTask> {
  const { config, toml } = await readConfig(join(folder, "task.toml"));
  const { environment } = config;
  for (const name of COMPOSE)
    if (await isFile(join(folder, "environment", name)))
      throw needsDocker(join(folder, "environment", name), "the task has this file");
  const files = await folderFiles(join(folder, "environment"));
  const path = join(folder, "environment", "Dockerfile");
  const text = files.find((file) => file.path === "Dockerfile");
  if (text === undefined && environment.docker_image === undefined)
    throw invalidTask(
      path,
      "the file is missing",
      "A task has environment/Dockerfile, or `docker_image` in task.toml.",
    );
  // A prebuilt image replaces the Dockerfile.
  const dockerfile =
    environment.docker_image === undefined && text !== undefined
      ? readDockerfile(decodeUtf8(text.bytes, path), path, files)
      : undefined;
  const steps = config.steps.length === 0 ? [await readStep(folder, config)] : await readSteps(folder, config);
  return {
    name: config.task?.name ?? basename(folder),
    folder,
    config,
    steps: steps as [TaskStep, ...TaskStep[]],
    from: dockerfile?.from ?? (environment.docker_image as string),
    place: dockerfile?.place ?? toml.placeOf(["environment", "docker_image"]),
    dockerfile,
    buildKey: hashOf(dockerfile === undefined ? [] : files),
  };
}

async function readSteps(folder: string, config: TaskConfig): Promise<TaskStep[]> {
  const steps: TaskStep[] = [];
  for (const step of config.steps) steps.push(await readStep(folder, config, step));
  return steps;
}

async function readStep(folder: string, config: TaskConfig, step?: StepConfig): Promise<TaskStep> {
  const own = step === undefined ? folder : join(folder, "steps", step.name);
  const path = join(own, "instruction.md");
  const bytes = await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error, "The instruction is what the policy reads.");
  });
  const instruction = withoutCanary(decodeUtf8(bytes, path));
  if (instruction.trim() === "") throw invalidTask(`${path}:1`, "the instruction is empty");
  if (await isFile(join(own, "trajectory.json")))
    throw invalidTask(join(own, "trajectory.json"), "an earlier conversation is not supported", "Remove the file.");
  const shared = await folderFiles(join(folder, "tests"));
  const tests = step === undefined ? shared : merged(shared, await folderFiles(join(own, "tests")));
  if (!tests.some((file) => file.path === "test.sh"))
    throw invalidTask(
      join(own, "tests", "test.sh"),
      "the file is missing",
      "It writes the reward to /logs/verifier/reward.txt.",
    );
  if (tests.some((file) => file.path === "Dockerfile") && modeOf(config, step) === "separate")
    throw needsDocker(join(folder, "tests", "Dockerfile"), "the tests have an image of their own");
  const solution = await folderFiles(join(own, "solution"));
  return {
    config: step ?? { agent: {}, verifier: { env: {} }, artifacts: [] },
    instruction,
    tests,
    solution: solution.length > 0 || step === undefined ? solution : await folderFiles(join(folder, "solution")),
    workdir: step === undefined ? [] : await folderFiles(join(own, "workdir")),
  };
}

/** Whether the tests of a step run in the files of the policy, or in new ones with its artifacts. */
export function modeOf(
  { verifier }: TaskConfig,
  step: Pick<StepConfig, "verifier"> | undefined,
): "shared" | "separate" {
  return step?.verifier.environment_mode ?? verifier.environment_mode ?? "shared";
}

/** Leaves out the lines before the instruction that mark data of a benchmark. */
function withoutCanary(text: string): string {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => !/^(<!--.*canary.*-->|#.*canary.*)$/i.test(line.trim()));
  return lines
    .slice(Math.max(0, first))
    .join("\n")
    .replace(/^\s*\n/, "");
}

function merged(shared: readonly FolderFile[], own: readonly FolderFile[]): FolderFile[] {
  return [...shared.filter(({ path }) => !own.some((file) => file.path === path)), ...own];
}

/** Returns a hash of the paths, contents and rights of files. */
export function hashOf(files: readonly FolderFile[]): string {
  const hash = createHash("sha256");
  for (const { path, bytes, isExecutable } of files)
    hash.update(JSON.stringify([path, bytes.length, isExecutable])).update(bytes);
  return hash.digest("hex");
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}
