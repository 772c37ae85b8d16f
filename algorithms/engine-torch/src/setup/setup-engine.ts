import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import type { EngineInstallation } from "@mrlm/spec/host";
import { findPythons, pipRunner, runProcess, searchOfMachine, withHeartbeat, writeJson } from "@mrlm/process/python";
import { pythonDirectory } from "../package-directory.ts";
import { chooseTorch } from "../torch/choose-torch.ts";
import { gpuEvidence, hasNvidiaGpu } from "../torch/detect-gpu.ts";
import { wantsCpuBuild } from "../torch/torch-build.ts";
import { askTorchVersions } from "../torch/torch-versions.ts";
import { buildEnvironment } from "./build-environment.ts";
import { engineCache } from "./environment-names.ts";
import { locateEngine, toInstallation } from "./locate-engine.ts";
import { type Extra, lockFiles, parseExtras } from "./lock-files.ts";
import { resolveSetupOptions, torchWish } from "./setup-options.ts";

/** Options of {@link setupEngine}. */
export interface SetupEngineOptions {
  /** Called with progress lines: about twenty in a setup of half a minute. */
  readonly progress?: (line: string) => void;
  /** Names of extras: `lora`, `dev`. */
  readonly extras?: readonly string[];
  /** Options in the form of `SetupOptions`. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** Environment variables. Default: those of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Installs the packages of the engine into the user's cache. If they are installed, it starts no process and returns within
 * milliseconds.
 *
 * @throws PYTHON_NOT_FOUND, PYTHON_VERSION, SETUP_DOWNLOAD_FAILED, SETUP_FAILED, OPTIONS_INVALID.
 */
export async function setupEngine(wanted: SetupEngineOptions = {}): Promise<EngineInstallation> {
  const extras = parseExtras(wanted.extras ?? []);
  const present = await locateEngine({ ...wanted, extras });
  return present ?? withHeartbeat(wanted.progress ?? (() => {}), (progress) => install(wanted, extras, progress));
}

async function install(
  wanted: SetupEngineOptions,
  extras: readonly Extra[],
  progress: (line: string) => void,
): Promise<EngineInstallation> {
  const { env = process.env } = wanted;
  const options = resolveSetupOptions(wanted.options, env);
  const cache = engineCache(cacheDirectory(env));
  makeDirectory(cache.root);
  const lock = lockFiles(join(pythonDirectory(), "requirements"));
  const hasGpu = hasNvidiaGpu(gpuEvidence(env));
  const pip = pipRunner(runProcess, env);

  const pythons = await findPythons(searchOfMachine(env), runProcess, options.python);
  const wish = torchWish(options);
  const wantsCpu = wantsCpuBuild(wish, process.platform, hasGpu);
  const { python, build } = await chooseTorch({ pythons, wish, wantsCpu, ask: askTorchVersions(pip), progress });
  const directory = cache.environment({ lock: lock.hash, python, build });
  const plan = { directory, python, build, extras, lock, expectsGpu: hasGpu && build.kind !== "cpu" };
  const { stamp, changed } = await buildEnvironment(plan, { run: runProcess, pip, progress });
  // Later calls without these options use the environment of the last setup, by the second name.
  for (const named of [options, {}])
    writeJson(cache.choice({ lock: lock.hash, options: named, hasGpu }), { directory });
  return toInstallation(directory, stamp, changed);
}

/** Creates a directory in the cache. @throws SETUP_FAILED if this is not permitted. */
export function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
  } catch (error) {
    throw new MrlmError(
      "SETUP_FAILED",
      `The cache directory ${directory} cannot be made: ${(error as Error).message}`,
      {
        hint: "Set MRLM_CACHE to a directory that you can write to.",
        cause: error,
      },
    );
  }
}
