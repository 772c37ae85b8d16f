import { NumberedCalls } from "../numbered-calls.ts";

/** Most clients whose calls are remembered. */
const MAX_CLIENTS = 4_096;

/**
 * Numbered calls of each client, which makes one after the other. A call that was repeated after a lost connection is carried out once: its first copy could
 * otherwise arrive after later calls.
 */
export class ClientCalls {
  readonly #clients = new Map<string, NumberedCalls>();

  /** Runs a call, or returns the response of the same one before. Throws CALL_OUT_OF_ORDER for an earlier call than the last. */
  async run<T>(client: string, call: bigint, work: () => Promise<T>): Promise<T> {
    if (call === 0n) return work();
    const calls = this.#clients.get(client) ?? new NumberedCalls(1);
    // The clients stay in the order of their latest calls.
    this.#clients.delete(client);
    this.#clients.set(client, calls);
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > MAX_CLIENTS && oldest !== undefined) this.#clients.delete(oldest);
    return calls.run(call, work);
  }
}
