import { join } from "node:path";
import { cacheDirectory } from "@mrlm/kit/service";
import type { EngineInstallation } from "@mrlm/spec/host";
import { executableOf, readJson, readStamp, runProcess, type Stamp } from "@mrlm/process/python";
import { pythonDirectory } from "../package-directory.ts";
import { gpuEvidence, hasNvidiaGpu } from "../torch/detect-gpu.ts";
import { engineCache } from "./environment-names.ts";
import { type Extra, lockFiles } from "./lock-files.ts";
import { resolveSetupOptions } from "./setup-options.ts";
import { installedVersions } from "./verify-environment.ts";

/** Options that select an installation. */
export interface LocateOptions {
  readonly extras?: readonly Extra[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Finds the environment that an earlier setup with the same options made, with at least these extras. Returns `undefined` without
 * one. Reads a few files, and starts a process only to list the packages of a user's own interpreter (`MRLM_ENGINE_PYTHON`).
 *
 * @throws SETUP_FAILED if the user's own interpreter lacks a package.
 */
export async function locateEngine({ extras = [], options, env = process.env }: LocateOptions = {}): Promise<
  EngineInstallation | undefined
> {
  const resolved = resolveSetupOptions(options, env);
  if (resolved.engine_python !== undefined) return ownInstallation(resolved.engine_python);
  const lock = lockFiles(join(pythonDirectory(), "requirements")).hash;
  const choice = engineCache(cacheDirectory(env)).choice({
    lock,
    options: resolved,
    hasGpu: hasNvidiaGpu(gpuEvidence(env)),
  });
  const directory = readJson<{ directory: string }>(choice)?.directory;
  const stamp = directory === undefined ? undefined : readStamp(directory);
  if (directory === undefined || stamp === undefined) return undefined;
  return extras.every((extra) => stamp.extras.includes(extra)) ? toInstallation(directory, stamp, false) : undefined;
}

/** Converts an environment to the form of the contract. */
export function toInstallation(directory: string, stamp: Stamp, changed: boolean): EngineInstallation {
  return { directory, executable: executableOf(directory), versions: stamp.versions, changed };
}

async function ownInstallation(executable: string): Promise<EngineInstallation> {
  const versions = await installedVersions(executable, runProcess);
  return { directory: join(executable, "..", ".."), executable, versions, changed: false };
}
