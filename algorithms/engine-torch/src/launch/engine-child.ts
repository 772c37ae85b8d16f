import { type ChildOptions, onLines, startChild } from "@mrlm/process";
import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { ERROR_CODES } from "@mrlm/spec/host";
import type { EngineLog } from "./engine-log.ts";
import type { ReadyLine } from "./ready-line.ts";

/** Exit of the process. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Error of an unexpected exit. */
  readonly cause?: MrlmError;
}

/** Exit of a process: the failure that its launcher reported, or the exit code or signal. */
export type Fate = LauncherFailure | { readonly how: string };

/** Process of the engine, or of the launcher of its ranks. */
export interface EngineChild {
  readonly exited: Promise<ChildExit>;
  /** The exit, after it has happened. For messages about a failed start. */
  readonly fate: Promise<Fate>;
  /** Sends SIGTERM and, after the grace period, SIGKILL. Settles after the exit. */
  stop(): Promise<void>;
}

/** The engine ends with its input, as soon as a pass allows. */
const ORPHAN_GRACE = { seconds: 10 };

/** Starts a process whose input is open until this process ends. Writes its standard error to the log and passes messages to `onMessage`. */
export function startEngineChild(
  options: ChildOptions,
  log: EngineLog,
  graceMs: number,
  onMessage: (message: EngineMessage) => void,
): EngineChild {
  let asked = false;
  let failed: LauncherFailure | undefined;
  const child = startChild({ ...options, hasInput: true, orphanGrace: ORPHAN_GRACE });
  onLines(child, (line, from) => {
    const message = from === "stdout" ? parseMessage(line) : undefined;
    if (message === undefined) log.write(line);
    else if ("failed" in message) failed = message.failed;
    else onMessage(message);
  });
  const fate = child.ended.then(
    ({ code, signal, error }): Fate => failed ?? { how: error?.message ?? describeExit(code, signal) },
  );
  const exited = child.ended.then(async ({ code, signal }): Promise<ChildExit> => {
    const cause = asked ? undefined : exitError(await fate, log);
    if (cause !== undefined) log.record(cause.message.split("\n", 1)[0] as string);
    log.close();
    return { code, signal, ...(cause && { cause }) };
  });
  const stop = async (): Promise<void> => {
    asked = true;
    await child.stop({ termMs: graceMs });
    await exited;
  };
  return { exited, fate, stop };
}

function exitError(fate: Fate, log: EngineLog): MrlmError {
  if ("code" in fate) return new MrlmError(fate.code, fate.message);
  const what =
    "because" in fate
      ? `The engine ended because ${fate.because}`
      : `The engine ended without being asked to: ${fate.how}`;
  return new MrlmError("ENGINE_EXITED", `${what}.${log.tail()}`);
}

function describeExit(code: number | null, signal: string | null): string {
  if (signal === "SIGKILL") return "killed by SIGKILL (by hand, or by the system because memory ran out)";
  return signal === null ? `exit code ${code}` : `killed by ${signal}`;
}

/** Unexpected exit of a launcher of ranks: the failure of a rank or machine, or the reason why the ranks could not start. */
type LauncherFailure = { readonly because: string } | { readonly code: ErrorCode; readonly message: string };

/** Message that the engine, or the launcher of its ranks, writes to its standard output. */
type EngineMessage =
  | { readonly ready: ReadyLine }
  | { readonly notice: string }
  | { readonly joined: object }
  | { readonly failed: LauncherFailure };

/** Parses a line of standard output. Returns `undefined` for other lines, which a library may print. */
function parseMessage(line: string): EngineMessage | undefined {
  if (!line.startsWith("{")) return undefined;
  let value: Partial<ReadyLine> & {
    readonly notice?: unknown;
    readonly joined?: unknown;
    readonly failed?: { readonly because?: unknown; readonly message?: unknown; readonly code?: unknown };
  };
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { notice, joined, failed } = value;
  if (typeof value.listening === "string" && typeof value.instance_id === "string" && typeof value.pid === "number")
    return { ready: value as ReadyLine };
  if (typeof notice === "string") return { notice };
  if (typeof joined === "object" && joined !== null) return { joined };
  if (typeof failed?.because === "string") return { failed: { because: failed.because } };
  if (
    typeof failed?.message !== "string" ||
    typeof failed.code !== "string" ||
    !Object.hasOwn(ERROR_CODES, failed.code)
  )
    return undefined;
  return { failed: { code: failed.code as ErrorCode, message: failed.message } };
}
