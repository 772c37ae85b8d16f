// Plays an environment with a model, in a process that its code may end, block or change. services/play-for-signal.ts starts it.
import { Writable } from "node:stream";
import { MrlmError } from "@mrlm/spec";
import type { Console } from "./console/console.ts";
import type { PlayMessage, PlayRequest } from "./services/play-for-signal.ts";
import { playGroups } from "./services/played-groups.ts";
import { openWorkerPort } from "./services/worker-port.ts";

/** Interval of the messages by which the process shows that its event loop is free, and the time in which one must come, in milliseconds. */
const ALIVE_MS = 5_000;
const SILENT_MS = 60_000;

const { request, send, end } = await openWorkerPort<PlayRequest, PlayMessage>();
const { directory, args, groups } = request;
const alive = (): void => send({ event: "alive", nextMs: SILENT_MS });
alive();
setInterval(alive, ALIVE_MS);

process.on("uncaughtException", (error) =>
  send({ event: "fault", fault: { code: "UNCAUGHT_ERROR", message: error.message } }),
);

const console: Console = {
  json: false,
  isInteractive: false,
  print: () => undefined,
  emit: () => undefined,
  note: (line) => send({ event: "note", line }),
  stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
};

try {
  const played = await playGroups({ console, directory }, args, groups, {
    signal: new AbortController().signal,
    onGroup: (done, total) => send({ event: "group", done, total }),
  });
  send({ event: "played", ...played });
} catch (error) {
  const { code, message, hint } = MrlmError.isInstance(error)
    ? error
    : {
        code: "INTERNAL" as const,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
        hint: "",
      };
  send({ event: "failed", code, message, hint });
}
end();
