import { Places } from "@mrlm/kit";
import { MrlmError } from "@mrlm/spec";

/** Requests of one client that may wait. */
const MAX_WAITING = 16;
const RETRY_MS = 1_000;

/** Turns of each client, which has one at a time. Its other requests wait in the order of their arrival. */
export class ClientTurns {
  readonly #clients = new Map<string, { readonly places: Places; requests: number }>();

  /** Waits for the turn. Returns the function that ends it. Rejects with RESOURCE_EXHAUSTED when too many wait, and with the reason of an aborted signal. */
  async take(client: string, signal: AbortSignal): Promise<() => void> {
    const own = this.#clients.get(client) ?? { places: new Places(1), requests: 0 };
    if (own.requests > MAX_WAITING)
      throw new MrlmError("RESOURCE_EXHAUSTED", `${MAX_WAITING} requests of this client wait for their turns.`, {
        retryDelayMs: RETRY_MS,
      });
    this.#clients.set(client, own);
    own.requests++;
    const leave = (): void => {
      if (--own.requests === 0) this.#clients.delete(client);
    };
    try {
      const giveBack = await own.places.take(signal);
      return () => {
        giveBack();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
