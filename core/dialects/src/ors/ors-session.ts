import { MrlmError } from "@mrlm/spec";
import type { HeldSession } from "../client-sessions.ts";
import type { Episode } from "../episode.ts";
import { OrsCalls } from "./ors-call.ts";

/** Wait of a request for an episode that starts. The client gives a request without a byte up after 30 s. */
const START_WAIT_MS = 25_000;

/** Episode that has not started yet. The client sends the request again. */
export class StillStarting extends Error {}

/** Session of an ORS client: an episode from its start on. */
export class OrsSession implements HeldSession {
  readonly calls = new OrsCalls();
  readonly #start: (signal: AbortSignal) => Promise<Episode>;
  readonly #controller = new AbortController();
  readonly #lost = Promise.withResolvers<void>();
  #starting: Promise<Episode> | undefined;
  #isStarting = false;
  #episode: Episode | undefined;
  /** Time of the latest request, in milliseconds of `performance.now()`. */
  #touched = performance.now();

  /** @param start starts the episode. It is called again after a full server refused it */
  constructor(start: (signal: AbortSignal) => Promise<Episode>) {
    this.#start = start;
  }

  /** Resolves when the session has ended before its episode: its lease ended, or the server stops. */
  get lost(): Promise<void> {
    return this.#lost.promise;
  }

  /** Aborted when the session is deleted. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds since the latest request. */
  get idleMs(): number {
    return performance.now() - this.#touched;
  }

  /** Whether the session has a place on the server, whose lease ends it, or waits for one. */
  get hasPlace(): boolean {
    return this.#episode === undefined ? this.#isStarting : !this.#episode.isOver;
  }

  /** Starts the lease again. */
  touch(): void {
    this.#touched = performance.now();
    this.#episode?.renew();
  }

  /** Returns the episode. Rejects with StillStarting, and with the error of the start. After RESOURCE_EXHAUSTED the next request starts it again. */
  async episode(): Promise<Episode> {
    if (this.#episode !== undefined) return this.#episode;
    this.#starting ??= this.#begin();
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new StillStarting()), START_WAIT_MS);
    try {
      return await Promise.race([this.#starting, promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the episode. */
  async close(): Promise<void> {
    this.#controller.abort(new MrlmError("CANCELLED", "The client deleted the session."));
    this.calls.clear();
    await this.#starting?.catch(() => undefined);
    await this.#episode?.close();
  }

  async #begin(): Promise<Episode> {
    this.#isStarting = true;
    try {
      const episode = await this.#start(this.signal);
      this.#episode = episode;
      void episode.sessionEnded.then(() => (episode.isOver ? undefined : this.#lost.resolve()));
      return episode;
    } catch (error) {
      if (MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) this.#starting = undefined;
      throw error;
    } finally {
      this.#isStarting = false;
    }
  }
}
