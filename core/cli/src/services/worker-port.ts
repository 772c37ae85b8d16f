import { killTree, listTree, ownTree, type TreeProcess } from "@mrlm/process";

/** Connection of a worker that runs code of plugins to the process that started it. */
export interface WorkerPort<Request, Message> {
  readonly request: Request;
  /** Sends a message, in order. */
  send(message: Message): void;
  /** Lists the processes that code of plugins started, and that run. */
  started(): TreeProcess[];
  /** Sends `done` and ends the process, with whatever a plugin left open. */
  end(): void;
}

/** Receives the request of the process that started this one. Code of plugins cannot use the connection: this takes it away. */
export async function openWorkerPort<Request, Message extends object>(): Promise<WorkerPort<Request, Message>> {
  const post = process.send?.bind(process);
  if (post === undefined) throw new Error("This module runs as a worker of `mrlm` only.");
  const tree = ownTree();
  process.on("disconnect", () => killTree(tree));
  const request = await new Promise<Request>((resolve) =>
    process.once("message", (value) => resolve(value as Request)),
  );
  const { exit } = process;
  Object.defineProperty(process, "send", { value: undefined });
  return {
    request,
    send: (message) => void post(message),
    started: () => listTree(tree),
    end: () => void post({ event: "done" }, () => exit.call(process, 0)),
  };
}
