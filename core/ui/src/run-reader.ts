import { Calls, type Channel, type Child, describeEnd, moduleFile, processChannel, startChild } from "@mrlm/process";
import { MrlmError } from "@mrlm/spec";
import type { Reads } from "./reader/reads.ts";

/** Longest time of a read, in milliseconds. SQLite cannot be interrupted, so its process is ended. */
const READ_MS = 30_000;
/** Reads that may wait for the one under way. */
const MAX_WAITING = 2_000;

interface Reader {
  readonly child: Child;
  readonly channel: Channel;
  readonly calls: Calls<Reads>;
}

/** Reads runs in a process of its own, one read after the other. */
export class RunReader {
  #reader: Reader | undefined;
  /** Settles after the last read that was asked for. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #isClosed = false;

  /** Reads. Rejects as the function does; with QUERY_LIMIT if it takes longer than 30 s, with RESOURCE_EXHAUSTED if 2,000 others wait. */
  async read<N extends keyof Reads>(name: N, ...args: Parameters<Reads[N]>): Promise<ReturnType<Reads[N]>> {
    this.#assertOpen();
    if (this.#waiting > MAX_WAITING)
      throw new MrlmError("RESOURCE_EXHAUSTED", "Too many requests wait for the store.", { retryDelayMs: 1_000 });
    this.#waiting++;
    const read = this.#last.then(() => this.#readNow(name, args));
    this.#last = read.catch(() => undefined).finally(() => this.#waiting--);
    return await read;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#reader?.child.kill();
    await this.#reader?.child.ended;
  }

  async #readNow<N extends keyof Reads>(name: N, args: Parameters<Reads[N]>): Promise<ReturnType<Reads[N]>> {
    this.#assertOpen();
    if (this.#reader?.child.hasEnded !== false) this.#reader = startReader();
    const { child, channel, calls } = this.#reader;
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill();
    }, READ_MS);
    try {
      return (await calls.call(name, args as never)) as ReturnType<Reads[N]>;
    } catch (error) {
      // An answer of a process that runs is the error of the read.
      if (!channel.closed.aborted) throw error;
      const end = await child.ended;
      this.#assertOpen();
      throw isLate ? lateError() : endedError(describeEnd(end));
    } finally {
      clearTimeout(timer);
    }
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new MrlmError("CANCELLED", "The server has stopped.");
  }
}

function startReader(): Reader {
  const { path, execArgv } = moduleFile(import.meta.url, "./reader-process");
  // `advanced` keeps byte arrays as they are.
  const child = startChild({ module: path, execArgv, serialization: "advanced" });
  // An unread pipe would block the process.
  child.process.stdout?.resume();
  child.process.stderr?.resume();
  const channel = processChannel(child.process);
  return { child, channel, calls: new Calls<Reads>(channel) };
}

function lateError(): MrlmError {
  return new MrlmError("QUERY_LIMIT", `The read took longer than ${READ_MS / 1000} s and was ended.`, {
    hint: "Choose a smaller range of steps, or use mrlm query.",
  });
}

function endedError(how: string): MrlmError {
  return new MrlmError("STORE_INVALID", `The process that reads runs ${how}.`, {
    hint: "A file of the run is damaged. Run mrlm doctor on it.",
  });
}
