import { spawn } from "node:child_process";
import { writeTokenFile } from "@mrlm/kit";
import { type EngineProcess, type EngineProvider, MrlmError } from "@mrlm/spec";
import { locateEngine } from "../setup/locate-engine.ts";
import { engineEnvironment } from "./engine-environment.ts";
import { openEngineLog } from "./engine-log.ts";
import { flagArguments, launcherArguments } from "./launcher-arguments.ts";
import { superviseEngine } from "./supervise-engine.ts";

/** How to start an engine. */
export type LaunchOptions = Parameters<EngineProvider["launch"]>[0] & {
  /** Interface that it listens on. Default `127.0.0.1`. */
  readonly host?: string;
  /** Port; 0, the default, takes a free one. */
  readonly port?: number;
  /** Milliseconds until it must accept calls. Default 180000: the first import of torch from a cold disk is slow. */
  readonly startTimeoutMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. Default 10000. */
  readonly graceMs?: number;
  /** Interpreter with the engine's packages. Default: that of the last setup. */
  readonly executable?: string;
  /** Options of the setup whose environment to use. */
  readonly setup?: Readonly<Record<string, unknown>>;
  /** Stands for the process's environment variables. */
  readonly env?: NodeJS.ProcessEnv;
  /** Directory of the Python package, where it is not the one of this npm package. */
  readonly pythonPath?: string;
};

/**
 * Starts `mrlm_engine` in a process and process group of its own and waits until it accepts calls. It ends when asked to,
 * and by itself when this process has gone: it watches its standard input. Its calls need the token that it is returned with, since any user of the machine
 * can reach a port.
 *
 * @throws ENGINE_NOT_SET_UP, ENGINE_START_FAILED with the end of its log, CANCELLED.
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
  const child = spawn(
    executable,
    [...programArguments(options.distributed), ...engineArguments(options), "--token-file", secret.path],
    {
      env: engineEnvironment(options.threads, env, options.pythonPath),
      cwd: options.logDirectory,
      // A Ctrl-C in the terminal reaches us alone, and the engine finishes what it is asked to finish.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    },
  );
  const started = superviseEngine(child, log, {
    // Machines give up waiting for each other by themselves, with a better reason.
    startTimeoutMs: (options.startTimeoutMs ?? 180_000) + 1000 * (options.distributed?.joinSeconds ?? 0),
    graceMs: options.graceMs ?? 10_000,
    ...(options.notice && { notice: options.notice }),
    ...(signal && { signal }),
  }).finally(() => secret.remove());
  return { ...(await started), token: secret.token };
}

/** The engine itself, or what starts and watches its ranks. */
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
}: LaunchOptions): string[] {
  return flagArguments({ host, port, device, mode, threads, lanes, seed });
}
