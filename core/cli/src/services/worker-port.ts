import { endOrphan, type Orphan, watchParent } from "./parent-watch.ts";
import { type StartedProcess, startedProcesses } from "./started-processes.ts";

/** Connection of a worker that runs code of plugins to the process that started it. */
export interface WorkerPort<Request, Message> {
  readonly request: Request;
  /** Sends a message, in order. */
  send(message: Message): void;
  /** Lists the processes that code of plugins started, and that run. */
  started(): StartedProcess[];
  /** Sends `done` and ends the process, with whatever a plugin left open. */
  end(): void;
}

/** Receives the request of the process that started this one. Code of plugins cannot use the connection: this takes it away. */
export async function openWorkerPort<Request, Message extends object>(): Promise<WorkerPort<Request, Message>> {
  const post = process.send?.bind(process);
  if (post === undefined) throw new Error("This module runs as a worker of `mrlm` only.");
  // Both are arguments, because the parent can end before this line.
  const [parent, temporary = ""] = process.argv.slice(2);
  const orphan: Orphan = { parent: Number(parent), temporary };
  watchParent(orphan);
  process.on("disconnect", () => endOrphan(orphan));
  const request = await new Promise<Request>((resolve) =>
    process.once("message", (value) => resolve(value as Request)),
  );
  const { exit } = process;
  Object.defineProperty(process, "send", { value: undefined });
  return {
    request,
    send: (message) => void post(message),
    started: () => startedProcesses(process.pid, temporary),
    end: () => void post({ event: "done" }, () => exit.call(process, 0)),
  };
}
