import { defined } from "@mrlm/spec";
import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { type SessionAtWork, sessionTracking } from "@mrlm/runtime";

/** Session at work when a process ended, as its record states it. */
export interface RecordedEnd {
  readonly work?: SessionAtWork;
  /** `uncaughtException: Error: ...`; absent if the process recorded none. */
  readonly reason?: string;
}

const PHASES = ["setup", "step", "score", "close"] as const;
const ID_BYTES = 16;
/** Place of the text that a process writes when it ends. */
const END_OFFSET = 32;
const REASON_LENGTH = 500;

/**
 * Writes which session's code this process runs to a file, because a kill or a lack of memory leaves no other trace. Code after an `await` is attributed when
 * the process ends by an exception or `process.exit`, by its asynchronous context. A step costs two writes of some bytes, about 2 µs.
 * @param path file in a folder of this user alone
 * @returns a function that ends the record before an orderly end
 */
export function recordWork(path: string): () => void {
  const file = openSync(path, "w", 0o600);
  const context = new AsyncLocalStorage<SessionAtWork>();
  const entry = Buffer.alloc(2 + ID_BYTES);
  let current: SessionAtWork | undefined;
  const enter = (at: SessionAtWork | undefined): void => {
    current = at;
    entry[0] = at === undefined || at.session.length !== ID_BYTES ? 0 : 1;
    if (at !== undefined && entry[0] === 1) {
      entry[1] = PHASES.indexOf(at.phase);
      entry.write(at.session, 2, "latin1");
    }
    writeSync(file, entry, 0, entry[0] === 0 ? 1 : entry.length, 0);
  };
  sessionTracking.tracker = (at, work) =>
    context.run(at, () => {
      const before = current;
      enter(at);
      try {
        return work();
      } finally {
        enter(before);
      }
    });
  let reason: string | undefined;
  let isOrderly = false;
  process.on("uncaughtExceptionMonitor", (error: unknown, origin) => {
    const shown = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    reason = `${origin}: ${shown}`.slice(0, REASON_LENGTH);
  });
  process.on("exit", () => {
    if (isOrderly) return;
    const work = context.getStore();
    writeSync(file, JSON.stringify({ ...(work && { work }), ...defined({ reason }) }), END_OFFSET);
  });
  return () => {
    isOrderly = true;
    sessionTracking.tracker = undefined;
    closeSync(file);
  };
}

/** Reads the record of a process that has ended. */
export function readRecord(path: string): RecordedEnd {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return {};
  }
  const text = bytes.toString("utf8", END_OFFSET);
  if (text !== "") {
    try {
      return JSON.parse(text) as RecordedEnd;
    } catch {
      return {};
    }
  }
  const phase = PHASES[bytes[1] ?? 0];
  if (bytes[0] !== 1 || phase === undefined) return {};
  return { work: { session: bytes.toString("latin1", 2, 2 + ID_BYTES), phase } };
}
