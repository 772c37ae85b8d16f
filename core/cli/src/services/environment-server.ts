import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { randomToken, writeTokenFile } from "@mrlm/kit";
import { ERROR_CODES, type ErrorCode, MrlmError } from "@mrlm/spec";

/** An environment server in a process of its own, started again when it dies. */
export interface EnvironmentServer {
  readonly address: string;
  /** Secret of this server, which its calls must carry; the same after a restart. */
  readonly token: string;
  /** Aborted, with the reason, when it is not started again: it ended too often, did not come up, or an environment has blocked it and would block the next one too. */
  readonly lost: AbortSignal;
  stop(): Promise<void>;
}

interface LaunchOptions {
  readonly configPath: string;
  /** Keys that are set over the configuration. */
  readonly overrides: readonly string[];
  /** The project, where plugins are looked up. */
  readonly directory: string;
  /** Where relative names of files start. */
  readonly dataDirectory: string;
  /** Told of restarts, and of what the environments write. */
  readonly notice: (line: string) => void;
  /** Told of each process, also of those that take a dead one's place. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}

/** Restarts within one run; a server that dies more often than that has a fault that restarting does not cure. */
const MAX_RESTARTS = 5;
const START_TIMEOUT_MS = 60_000;
/** Longer than a server gives the sessions that live. */
const STOP_TIMEOUT_MS = 15_000;
/** Of its output that are quoted when it does not come up. */
const MAX_LINES = 50;

/**
 * Starts `mrlm serve` with the plugins of a configuration. When it dies it is started again on the same port, so that clients find it where it
 * was; `notice` is told.
 */
export async function startEnvironmentServer(options: LaunchOptions): Promise<EnvironmentServer> {
  let stopping = false;
  let restarts = 0;
  const lost = new AbortController();
  const onBlocked = (error: MrlmError): void => lost.abort(error);
  const token = randomToken();
  const { address, child: first } = await launch({ ...options, onBlocked, token }, 0);
  let child = first;
  // Also when this process ends at once, as at a second Ctrl-C.
  const kill = (): void => killGroup(child);
  process.on("exit", kill);
  watch();

  function watch(): void {
    child.once("exit", (code, signal) => {
      if (stopping || lost.signal.aborted) return;
      const how = signal === null ? `with code ${code}` : `by ${signal}`;
      if (restarts++ >= MAX_RESTARTS) {
        const hint =
          "An environment that calls process.exit, or takes more memory than there is, ends its server. What it wrote before is in the lines above.";
        return lost.abort(
          new MrlmError(
            "SERVER_UNAVAILABLE",
            `The environment server ended ${how}, after ${MAX_RESTARTS} restarts; it is not started again.`,
            { isRetryable: false, hint },
          ),
        );
      }
      options.notice(`The environment server ended ${how}; starting it again on ${address}.`);
      launch({ ...options, onBlocked, token }, Number(address.split(":").at(-1))).then(
        (started) => {
          child = started.child;
          if (stopping) return void child.stdin?.end();
          watch();
          options.notice(`The environment server is up again on ${address}.`);
        },
        (error: unknown) => lost.abort(error),
      );
    });
  }

  return {
    address,
    token,
    lost: lost.signal,
    async stop() {
      stopping = true;
      process.off("exit", kill);
      if (hasEnded(child)) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.stdin?.end();
      // An environment that never yields keeps its server from hearing anything.
      const timer = setTimeout(() => killGroup(child), lost.signal.aborted ? 0 : STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

type OneLaunch = LaunchOptions & { readonly token: string; readonly onBlocked: (error: MrlmError) => void };

async function launch(
  { configPath, overrides, directory, dataDirectory, token, onStarted, onBlocked, notice }: OneLaunch,
  port: number,
): Promise<{ child: ChildProcess; address: string }> {
  const main = process.argv[1] as string;
  const secret = writeTokenFile(token);
  const flags = [
    "--json",
    "--until-stdin-ends",
    "--token-file",
    secret.path,
    "--demonstrations",
    "--any-data",
    "--data-root",
    dataDirectory,
    "--port",
    String(port),
    "--config",
    configPath,
  ];
  const child = spawn(
    process.execPath,
    [...process.execArgv, main, "serve", ...flags, ...overrides.flatMap((each) => ["--set", each])],
    {
      cwd: directory,
      stdio: ["pipe", "pipe", "pipe"],
      // Ctrl-C reaches the whole foreground group: the server must outlive it until its clients have drained.
      detached: true,
    },
  );
  const said: string[] = [];
  let isReady = false;
  // What environments write is for their authors, wherever it went.
  const heard = (line: string): void => {
    if (isReady) return notice(`environment server: ${line}`);
    said.push(line);
    if (said.length > MAX_LINES) said.shift();
  };
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on("line", heard);
  // A server that is gone is noticed by its exit.
  child.stdin?.on("error", () => undefined);
  const address = await new Promise<string>((resolve, reject) => {
    const fail = (what: string): void => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      reject(
        new MrlmError("SERVER_UNAVAILABLE", `The environment server ${what}.\n${said.join("\n")}`, {
          isRetryable: false,
          hint: "The lines above are the server's own.",
        }),
      );
    };
    const timer = setTimeout(() => fail(`was not ready after ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS);
    child.once("error", (error) => fail(`could not be started: ${error.message}`));
    let fault: MrlmError | undefined;
    child.once("close", (code) => {
      if (fault === undefined) return fail(`ended with code ${code} before it was ready`);
      clearTimeout(timer);
      // The server's account of the fault is the error itself; what it or a plugin wrote before stands nowhere else.
      for (const line of linesBefore(said, fault)) notice(`environment server: ${line}`);
      reject(fault);
    });
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      const event = eventOf(line);
      if (event === undefined) return heard(line);
      if (event.event === "blocked") {
        const error = new MrlmError("DEADLINE_EXCEEDED", String(event.message), {
          hint: String(event.hint),
          isRetryable: false,
        });
        onBlocked(error);
        return reject(error);
      }
      if (event.event === "error") fault = faultOf(event);
      if (event.event !== "listening" || event.address === undefined) return;
      clearTimeout(timer);
      child.removeAllListeners("close");
      isReady = true;
      resolve(event.address);
    });
  }).finally(() => secret.remove());
  onStarted?.({ pid: child.pid as number, address });
  return { child, address };
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** It leads a process group of its own. */
function killGroup(child: ChildProcess): void {
  if (hasEnded(child) || child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended just now, or this system has no groups.
    child.kill("SIGKILL");
  }
}

/** `listening` has an address; `error`, why a server did not start; `blocked`, sent before a server ends itself, the fault of an environment. */
interface ServerEvent {
  readonly event: string;
  readonly address?: string;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
}

/** The error that ended a server; the same as if its environments were in this process. `undefined` for a code that does not exist. */
function faultOf({ code, message, hint }: ServerEvent): MrlmError | undefined {
  if (code === undefined || !Object.hasOwn(ERROR_CODES, code)) return undefined;
  return new MrlmError(code as ErrorCode, String(message), {
    isRetryable: false,
    ...(hint === undefined || hint === "" ? {} : { hint }),
  });
}

function linesBefore(said: readonly string[], { code }: MrlmError): readonly string[] {
  const report = said.findLastIndex((line) => line.startsWith(`error ${code}: `));
  return report === -1 ? said : said.slice(0, report);
}

/** An event of `mrlm serve --json`; `undefined` for what a plugin wrote to standard output. */
function eventOf(line: string): ServerEvent | undefined {
  try {
    const value = JSON.parse(line) as ServerEvent | null;
    return typeof value?.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
