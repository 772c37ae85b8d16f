import { posix } from "node:path";
import { type Logger, MrlmError } from "@mrlm/kit";
import { type FolderFile, writeFiles } from "@mrlm/kit/service";
import type { Workspace } from "@mrlm/spec";
import { buildKeyOf, exported, VERIFIER_SECONDS, workdirOf } from "../open-task.ts";
import { type HarborTask, modeOf, type TaskStep } from "../task/task.ts";
import { readRewards, type Rewards } from "./reward.ts";

/** Folder in which tests write the reward. The policy has none of this name. */
const REWARDS = "/logs/verifier";
/** Folders of the copy that are those of the tests alone. */
const OWN = [REWARDS, "/tests", "/solution"];
/** Folder whose files separate tests receive, beside the artifacts that the task names. */
const ARTIFACTS = "/logs/artifacts";
/** Space on the disk that a policy leaves for its tests. */
const FREE_BYTES = 2 ** 20;
/** Largest reward file, and all artifacts together, in bytes. */
const REWARD_BYTES = 65_536;
const ARTIFACT_BYTES = 2 ** 28;
/** Greatest depth and number of artifacts: each level of a path is opened again for each file. */
const ARTIFACT_DEPTH = 32;
const ARTIFACT_FILES = 10_000;

/** Grade of a step. */
export interface Graded {
  readonly rewards: Rewards;
  readonly exitCode: number | null;
}

/** Runs the tests of a step over a copy of its files, or over new ones with its artifacts. @param snapshot of the files that the policy left, none of whose processes runs */
export async function grade(
  workspace: Workspace,
  task: HarborTask,
  step: TaskStep,
  snapshot: string,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<Graded> {
  if (modeOf(task.config, step.config) === "separate") {
    const named = [...task.config.artifacts, ...step.config.artifacts];
    const paths = named.map((each) => posix.resolve(workdirOf(task), typeof each === "string" ? each : each.source));
    const artifacts = await artifactsOf(workspace, [ARTIFACTS, ...paths]);
    await workspace.restore(buildKeyOf(task));
    if (artifacts === undefined || !(await isWritten(workspace, artifacts)))
      return { rewards: { reward: 0 }, exitCode: null };
  } else await workspace.restore(snapshot);
  if (!(await prepare(workspace, step.tests))) {
    logger.warn(`The files that a policy left in ${task.name} admit no tests: it earns 0.`);
    return { rewards: { reward: 0 }, exitCode: null };
  }
  const { verifier } = task.config;
  const seconds = step.config.verifier.timeout_sec ?? verifier.timeout_sec ?? VERIFIER_SECONDS;
  const result = await workspace.exec(
    [
      exported({ ...verifier.env, ...step.config.verifier.env }),
      // Modules that the policy installed for its user would run in every Python program of the tests.
      `export PYTHONNOUSERSITE=1; rm ${REWARDS}/space; chmod +x /tests/test.sh`,
      "exec /tests/test.sh 2>&1",
    ].join("\n"),
    { timeoutMs: seconds * 1000, signal },
  );
  const limit = result.timedOut ? `the time limit of ${seconds} s` : `the limit ${result.limit ?? ""}`;
  // Programs of the policy may run until the limit: what the tests wrote first counts.
  const written = await rewardsOf(workspace);
  const rewards = typeof written === "string" && result.exitCode === null ? `test.sh met ${limit}` : written;
  if (typeof rewards === "string")
    logger.warn(`The tests of ${task.name} gave no reward: ${rewards}.`, {
      exitCode: result.exitCode,
      output: new TextDecoder().decode(result.stdout).slice(-2000),
    });
  return { rewards, exitCode: result.exitCode };
}

/** Writes the tests in place of what the policy has put there. Returns false where its files prevent that. */
async function prepare(workspace: Workspace, tests: readonly FolderFile[]): Promise<boolean> {
  // A folder of the root is mounted, so that it stays, empty. Its rights are the policy's.
  await workspace.exec(
    `chmod 755 /logs /tests /solution /root; chmod 1777 /tmp; chmod -R u+rwX ${OWN.join(" ")}; rm -rf ${OWN.join(" ")}`,
  );
  for (const path of OWN) if (((await workspace.list(path)) ?? []).length > 0) return false;
  // The policy may have filled the disk.
  const space = { path: `${REWARDS}/space`, bytes: new Uint8Array(FREE_BYTES), isExecutable: false };
  const files = tests.map((file) => ({ ...file, path: posix.join("/tests", file.path) }));
  return isWritten(workspace, [...files, space]);
}

/** Writes artifacts into new files. Returns false where they have no room: a sparse file of the policy has real zeros here. */
async function isWritten(workspace: Workspace, artifacts: readonly FolderFile[]): Promise<boolean> {
  try {
    await writeFiles(workspace, "/", artifacts);
    return true;
  } catch (error) {
    if (MrlmError.hasCode(error, "DATA_INVALID")) return false;
    throw error;
  }
}

async function rewardsOf(workspace: Workspace): Promise<Rewards> {
  const entries = (await workspace.list(REWARDS)) ?? [];
  const read = async (name: string): Promise<Uint8Array | undefined> => {
    const entry = entries.find((each) => each.name === name);
    if (entry === undefined) return undefined;
    if (entry.type !== "file" || entry.bytes > REWARD_BYTES) return new Uint8Array();
    return workspace.readFile(posix.join(REWARDS, name));
  };
  return readRewards({ json: await read("reward.json"), text: await read("reward.txt") });
}

/** Reads files and folders; `undefined` above the limit. Missing ones are left out. */
async function artifactsOf(workspace: Workspace, paths: readonly string[]): Promise<FolderFile[] | undefined> {
  const files = new Map<string, FolderFile>();
  let bytes = 0;
  const read = async (path: string, size: number): Promise<void> => {
    bytes += size;
    const content = bytes > ARTIFACT_BYTES ? undefined : await workspace.readFile(path);
    if (content !== undefined) files.set(path, { path, bytes: content, isExecutable: false });
  };
  const add = async (path: string): Promise<void> => {
    if (path.split("/").length > ARTIFACT_DEPTH || files.size > ARTIFACT_FILES) bytes = Number.POSITIVE_INFINITY;
    if (bytes > ARTIFACT_BYTES) return;
    const entries = await workspace.list(path);
    for (const { name, type, bytes: size } of entries ?? []) {
      if (type === "directory") await add(posix.join(path, name));
      if (type === "file") await read(posix.join(path, name), size);
    }
    if (entries !== undefined) return;
    const above = await workspace.list(posix.dirname(path));
    const entry = above?.find(({ name }) => name === posix.basename(path));
    if (entry?.type === "file") await read(path, entry.bytes);
  };
  for (const path of paths) await add(path);
  return bytes > ARTIFACT_BYTES ? undefined : [...files.values()];
}
