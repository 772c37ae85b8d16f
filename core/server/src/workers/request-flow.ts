import { MrlmError } from "@mrlm/spec";
import type { ClientLink } from "./client-link.ts";

/** Requests are read while fewer bytes than the first limit wait for the client or for a worker, again when fewer than the second wait. */
export const HIGH_WATER_BYTES = 8 << 20;
export const LOW_WATER_BYTES = 2 << 20;

/** Reads the requests of a client only while the client reads its responses and each worker its requests, so that neither fills the memory of the server process. */
export class RequestFlow {
  readonly #read: (isReading: boolean) => void;
  readonly #stallMs: number;
  readonly #onStalled: (error: MrlmError) => void;
  #isReading = true;
  /** Set while too many bytes wait for the client. */
  #stall: NodeJS.Timeout | undefined;

  /**
   * @param read stops or continues to read
   * @param stallMs longest time in which the client may read nothing while too many bytes wait for it, in milliseconds
   * @param onStalled receives the error with which the stream ends then
   */
  constructor(read: (isReading: boolean) => void, stallMs: number, onStalled: (error: MrlmError) => void) {
    this.#read = read;
    this.#stallMs = stallMs;
    this.#onStalled = onStalled;
  }

  /** @param toClient bytes that wait for the client @param links those to its workers */
  update(toClient: number, links: Iterable<ClientLink>): void {
    if (toClient > HIGH_WATER_BYTES) this.#stall ??= setTimeout(() => this.#stalled(), this.#stallMs);
    else if (toClient < LOW_WATER_BYTES) this.end();
    let pending = toClient;
    for (const { outbox } of links) pending = Math.max(pending, outbox.pendingBytes);
    if (this.#isReading ? pending <= HIGH_WATER_BYTES : pending >= LOW_WATER_BYTES) return;
    this.#isReading = !this.#isReading;
    this.#read(this.#isReading);
  }

  /** Reports that the client has read. */
  progressed(): void {
    this.#stall?.refresh();
  }

  /** Ends the wait for a client that is gone. */
  end(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  #stalled(): void {
    const problem = `The client read no responses for ${this.#stallMs / 1000} s while more than ${HIGH_WATER_BYTES >> 20} MiB waited for it.`;
    this.#onStalled(new MrlmError("SERVER_UNAVAILABLE", problem));
  }
}
