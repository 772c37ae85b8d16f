import { type Child, describeEnd, onLines, randomToken, startChild, writeTokenFile } from "@mrlm/process";
import { ERROR_CODES } from "@mrlm/spec/host";
import { type ErrorCode, MrlmError } from "@mrlm/spec";

/** Environment server in a separate process, which is restarted after an unexpected exit. */
export interface EnvironmentServer {
  readonly address: string;
  /** Secret of this server, which its calls must carry; the same after a restart. */
  readonly token: string;
  /** Aborts, with the reason, when the server is not restarted: too many exits, a failed start, or an environment that blocks the event loop and would block the next server too. */
  readonly lost: AbortSignal;
  stop(): Promise<void>;
}

interface LaunchOptions {
  readonly configPath: string;
  /** `--set KEY=VALUE` flags, which replace keys of the configuration. */
  readonly overrides: readonly string[];
  /** Directory of the project, in which plugins are looked up. */
  readonly directory: string;
  /** Base directory of relative file names. */
  readonly dataDirectory: string;
  /** Receives lines about restarts, and the output of the environments. */
  readonly notice: (line: string) => void;
  /** Receives each started process, including restarts. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}

/** Most restarts within one run; a server that exits more often has a fault that a restart does not fix. */
const MAX_RESTARTS = 5;
const START_TIMEOUT_MS = 60_000;
/** Longer than the time that a server gives its open sessions. */
const STOP_TIMEOUT_MS = 15_000;
/** Most output lines that the error of a failed start quotes. */
const MAX_LINES = 50;

/**
 * Starts `mrlm serve` with the plugins of a configuration. After an unexpected exit it restarts on the same port, so that clients reconnect
 * to the same address, and `notice` receives a line.
 */
export async function startEnvironmentServer(options: LaunchOptions): Promise<EnvironmentServer> {
  let stopping = false;
  let restarts = 0;
  const lost = new AbortController();
  const onBlocked = (error: MrlmError): void => lost.abort(error);
  const token = randomToken();
  const { address, child: first } = await launch({ ...options, onBlocked, token }, 0);
  let child = first;
  watch();

  function watch(): void {
    void child.ended.then((end) => {
      if (stopping || lost.signal.aborted) return;
      const how = describeEnd(end);
      if (restarts++ >= MAX_RESTARTS) {
        const hint =
          "An environment that calls process.exit, or takes more memory than there is, ends its server. Its output before that is in the lines above.";
        return lost.abort(
          new MrlmError(
            "SERVER_UNAVAILABLE",
            `The environment server ${how}, after ${MAX_RESTARTS} restarts; it is not restarted.`,
            { isRetryable: false, hint },
          ),
        );
      }
      options.notice(`The environment server ${how}; restarting it on ${address}.`);
      launch({ ...options, onBlocked, token }, Number(address.split(":").at(-1))).then(
        (started) => {
          child = started.child;
          if (stopping) return void child.stop({ inputMs: STOP_TIMEOUT_MS });
          watch();
          options.notice(`The environment server is ready again on ${address}.`);
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
      // A server cannot read its standard input while an environment blocks the event loop.
      await child.stop({ inputMs: lost.signal.aborted ? 0 : STOP_TIMEOUT_MS });
    },
  };
}

type OneLaunch = LaunchOptions & { readonly token: string; readonly onBlocked: (error: MrlmError) => void };

async function launch(
  { configPath, overrides, directory, dataDirectory, token, onStarted, onBlocked, notice }: OneLaunch,
  port: number,
): Promise<{ child: Child; address: string }> {
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
  const child = startChild({
    command: process.execPath,
    args: [...process.execArgv, main, "serve", ...flags, ...overrides.flatMap((each) => ["--set", each])],
    cwd: directory,
    hasInput: true,
    orphanGrace: { seconds: STOP_TIMEOUT_MS / 1000 },
  });
  const output: string[] = [];
  let isReady = false;
  // Output of environments on either stream is of interest to their authors.
  const receive = (line: string): void => {
    if (isReady) return notice(`environment server: ${line}`);
    output.push(line);
    if (output.length > MAX_LINES) output.shift();
  };
  const address = await new Promise<string>((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer);
      child.kill();
      reject(
        new MrlmError("SERVER_UNAVAILABLE", `The environment server ${reason}.\n${output.join("\n")}`, {
          isRetryable: false,
          hint: "The lines above are the output of the server.",
        }),
      );
    };
    const timer = setTimeout(() => fail(`was not ready after ${START_TIMEOUT_MS / 1000} s`), START_TIMEOUT_MS);
    let fault: MrlmError | undefined;
    void child.ended.then((end) => {
      if (isReady) return;
      if (fault === undefined)
        return fail(`${describeEnd(end)}${end.error === undefined ? " before it was ready" : ""}`);
      clearTimeout(timer);
      // The error has the message of the server; only the notices have the lines before it.
      for (const line of linesBefore(output, fault)) notice(`environment server: ${line}`);
      reject(fault);
    });
    onLines(child, (line, from) => {
      const event = from === "stdout" ? eventOf(line) : undefined;
      if (event === undefined) return receive(line);
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
      isReady = true;
      resolve(event.address);
    });
  }).finally(() => secret.remove());
  onStarted?.({ pid: child.process.pid as number, address });
  return { child, address };
}

/** Event of `mrlm serve --json`: `listening` has an address, `error` the reason of a failed start, `blocked` the environment that blocks a server, which then exits. */
interface ServerEvent {
  readonly event: string;
  readonly address?: string;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
}

/** Converts the event to the error that environments in this process would raise; `undefined` for an unknown code. */
function faultOf({ code, message, hint }: ServerEvent): MrlmError | undefined {
  if (code === undefined || !Object.hasOwn(ERROR_CODES, code)) return undefined;
  return new MrlmError(code as ErrorCode, String(message), {
    isRetryable: false,
    ...(hint === undefined || hint === "" ? {} : { hint }),
  });
}

function linesBefore(output: readonly string[], { code }: MrlmError): readonly string[] {
  const report = output.findLastIndex((line) => line.startsWith(`error ${code}: `));
  return report === -1 ? output : output.slice(0, report);
}

/** Parses an event of `mrlm serve --json`; `undefined` for output of a plugin on stdout. */
function eventOf(line: string): ServerEvent | undefined {
  try {
    const value = JSON.parse(line) as ServerEvent | null;
    return typeof value?.event === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}
