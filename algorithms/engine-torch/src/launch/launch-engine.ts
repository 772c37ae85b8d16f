import { writeTokenFile } from "@mrlm/process";
import type { EngineProcess, EngineProvider } from "@mrlm/spec/host";
import { MrlmError } from "@mrlm/spec";
import { locateEngine } from "../setup/locate-engine.ts";
import { engineEnvironment } from "./engine-environment.ts";
import { openEngineLog } from "./engine-log.ts";
import { flagArguments, launcherArguments } from "./launcher-arguments.ts";
import { superviseEngine } from "./supervise-engine.ts";

/** Options of {@link launchEngine}. */
export type LaunchOptions = Parameters<EngineProvider["launch"]>[0] & {
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string;
  /** Port. Default 0: a free one. */
  readonly port?: number;
  /** Milliseconds until it must accept calls. Default 180000: the first import of torch from a cold disk is slow. */
  readonly startTimeoutMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. Default 10000. */
  readonly graceMs?: number;
  /** Interpreter with the packages of the engine. Default: the one of the last setup. */
  readonly executable?: string;
  /** Options of the setup that made the environment. */
  readonly setup?: Readonly<Record<string, unknown>>;
  /** Environment variables. Default: those of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Directory of the Python package. Default: the one of this npm package. */
  readonly pythonPath?: string;
};

/**
 * Starts `mrlm_engine` in its own process and process group and waits until it accepts calls. It exits after `stop`, and when this process exits, because
 * it watches its standard input. Calls need the returned token, because every user of the machine can reach a port.
 *
 * @throws ENGINE_NOT_SET_UP; ENGINE_START_FAILED with the last lines of its log; CANCELLED.
 */
export async function launchEngine(options: LaunchOptions = {}): Promise<EngineProcess> {
  const { env = process.env, signal } = options;
  const executable =
    options.executable ?? (await locateEngine({ env, ...(options.setup && { options: options.setup }) }))?.executable;
  if (executable === undefined)
    throw new MrlmError("ENGINE_NOT_SET_UP", "The engine's Python environment is not installed.");
  if (signal?.aborted) throw new MrlmError("CANCELLED", "The engine was not started.", { cause: signal.reason });
  const log = openEngineLog(options.logDirectory);
  const secret = writeTokenFile();
  const command = {
    command: executable,
    args: [...programArguments(options.distributed), ...engineArguments(options), "--token-file", secret.path],
    env: engineEnvironment(options.threads, env, options.pythonPath),
    cwd: options.logDirectory,
  };
  const started = superviseEngine(command, log, {
    // Machines time out by themselves while they wait for each other, with a better error.
    startTimeoutMs: (options.startTimeoutMs ?? 180_000) + 1000 * (options.distributed?.joinSeconds ?? 0),
    graceMs: options.graceMs ?? 10_000,
    ...(options.notice && { notice: options.notice }),
    ...(signal && { signal }),
  }).finally(() => secret.remove());
  return { ...(await started), token: secret.token };
}

/** Starts the engine itself, or the launcher of its ranks. */
function programArguments(distributed: LaunchOptions["distributed"]): string[] {
  return distributed === undefined ? ["-m", "mrlm_engine"] : launcherArguments(distributed);
}

function engineArguments({
  host = "127.0.0.1",
  port = 0,
  device = "auto",
  mode = "auto",
  threads,
  lanes,
  seed,
  gpu,
  samplesOnly = false,
}: LaunchOptions): string[] {
  const flags = flagArguments({ host, port, device, mode, threads, lanes, seed, gpu });
  return samplesOnly ? [...flags, "--samples-only"] : flags;
}
