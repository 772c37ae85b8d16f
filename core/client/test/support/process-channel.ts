import type { ChildProcess } from "node:child_process";
import type { WorkerChannel } from "@mrlm/server";

/** Returns the channel of a worker over the channel of its process. */
export function channelOver(other: ChildProcess | NodeJS.Process): WorkerChannel {
  const closed = new AbortController();
  other.on("disconnect", () => closed.abort());
  return {
    send: (body) => void other.send?.(body as object),
    onMessage(listener) {
      other.on("message", listener);
      return () => void other.off("message", listener);
    },
    closed: closed.signal,
  };
}
