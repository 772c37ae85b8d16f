import { MrlmError } from "@mrlm/spec";
import { jittered } from "./jittered.ts";

/** Limits of {@link Admission}. */
export interface AdmissionLimits {
  /** Places of all clients. */
  readonly places: number;
  /** Places of one client. */
  readonly placesPerClient: number;
  /** Places of an environment by its id. Default: only `places`. */
  readonly placesByEnvironment?: Readonly<Record<string, number>>;
  /** Length of the queue. */
  readonly queue: number;
  /** Longest wait in milliseconds. */
  readonly queueMs: number;
  /** Name of the holders of places in messages. Default: `sessions`. */
  readonly unit?: string;
}

/** Session that takes a place. */
export interface Applicant {
  /** Name of the client. Places are granted to the names in turn. */
  readonly client: string;
  /** Id of the environment. */
  readonly environment: string;
}

/** Number of places taken and of waiting applicants. */
export interface PlaceUse {
  readonly sessions: number;
  readonly queued: number;
}

interface Waiting {
  readonly applicant: Applicant;
  readonly enter: () => void;
  readonly refuse: (reason: unknown) => void;
}

/** Bounds of the retry delay in milliseconds, before jitter. */
const RETRY_MS = { min: 100, max: 5_000 };

/**
 * Limited number of places, in total, per client and per environment, with a bounded queue. Free places are granted to the waiting clients in
 * turn, and to the applicants of one client in order of arrival. An applicant whose client or environment has no free place delays no other.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  /** Waiting applicants by client, the client whose turn is next first. */
  readonly #queue = new Map<string, Set<Waiting>>();
  readonly #byClient = new Map<string, number>();
  readonly #byEnvironment = new Map<string, number>();
  #taken = 0;
  #queued = 0;
  #closed: (() => MrlmError) | undefined;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get limits(): AdmissionLimits {
    return this.#limits;
  }

  /** Use of all places, or of those of an environment. */
  use(environment?: string): PlaceUse {
    if (environment === undefined) return { sessions: this.#taken, queued: this.#queued };
    let queued = 0;
    for (const waiting of this.#queue.values())
      for (const { applicant } of waiting) if (applicant.environment === environment) queued++;
    return { sessions: this.#byEnvironment.get(environment) ?? 0, queued };
  }

  /**
   * Takes a place, and waits for one if necessary. Rejects with RESOURCE_EXHAUSTED when the queue is full or the wait too long, and with the reason of an
   * aborted signal. A full queue refuses the newest applicant of the client with the most of them.
   */
  async enter(applicant: Applicant, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#closed !== undefined) throw this.#closed();
    // No applicant waits that could enter, so one with a free place takes it at once.
    if (this.#obstacle(applicant) === undefined) return this.#take(applicant);
    if (this.#queued >= this.#limits.queue) this.#makeRoom(applicant);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // A refused applicant leaves the queue at once: a place that becomes free in the same turn of the event loop must not be granted to it.
    const refuse = (reason: unknown): void => {
      this.#remove(waiting);
      reject(reason);
    };
    const waiting: Waiting = { applicant, enter: resolve, refuse };
    this.#add(waiting);
    const { queueMs } = this.#limits;
    const timer = setTimeout(() => refuse(this.#refusal(applicant, `none became free within ${queueMs} ms`)), queueMs);
    const onAbort = (): void => refuse(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Places and applicants of a client. */
  useOfClient(client: string): PlaceUse {
    return { sessions: this.#byClient.get(client) ?? 0, queued: this.#queue.get(client)?.size ?? 0 };
  }

  /** Frees the place of an applicant that has entered. */
  leave({ client, environment }: Applicant): void {
    this.#taken--;
    decrement(this.#byClient, client);
    decrement(this.#byEnvironment, environment);
    this.#grant();
  }

  /** Refuses the applicants that wait, and all later ones. @param refusal makes the error of each */
  close(refusal: () => MrlmError): void {
    this.#closed = refusal;
    for (const waiting of this.#queue.values()) for (const each of waiting) each.refuse(refusal());
  }

  /** Grants free places until no applicant waits that can enter. */
  #grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#remove(next);
      this.#take(next.applicant);
      next.enter();
      const { client } = next.applicant;
      const rest = this.#queue.get(client);
      if (rest === undefined) continue;
      this.#queue.delete(client);
      this.#queue.set(client, rest);
    }
  }

  #next(): Waiting | undefined {
    if (this.#taken >= this.#limits.places) return undefined;
    for (const [client, waiting] of this.#queue) {
      if ((this.#byClient.get(client) ?? 0) >= this.#limits.placesPerClient) continue;
      for (const each of waiting) if (this.#obstacle(each.applicant) === undefined) return each;
    }
    return undefined;
  }

  /** Returns which limit an applicant meets; `undefined` if it can enter. */
  #obstacle({ client, environment }: Applicant): string | undefined {
    const { places, placesPerClient, placesByEnvironment = {}, unit = "sessions" } = this.#limits;
    const ofEnvironment = Object.hasOwn(placesByEnvironment, environment)
      ? placesByEnvironment[environment]
      : undefined;
    if (this.#taken >= places) return `The server holds its maximum of ${places} ${unit}`;
    if (ofEnvironment !== undefined && (this.#byEnvironment.get(environment) ?? 0) >= ofEnvironment)
      return `The server holds its maximum of ${ofEnvironment} ${unit} of environment ${environment}`;
    if ((this.#byClient.get(client) ?? 0) >= placesPerClient)
      return `The server holds its maximum of ${placesPerClient} ${unit} of one client`;
    return undefined;
  }

  /** Refuses the newest applicant of the client with the most of them. Throws if that is the one that arrives. */
  #makeRoom(applicant: Applicant): void {
    const refusal = (refused: Applicant): MrlmError => this.#refusal(refused, `${this.#queued} more wait`);
    let longest: Set<Waiting> | undefined;
    for (const waiting of this.#queue.values()) if (waiting.size > (longest?.size ?? 0)) longest = waiting;
    const own = this.#queue.get(applicant.client)?.size ?? 0;
    const newest = longest === undefined || longest.size <= own + 1 ? undefined : [...longest].at(-1);
    if (newest === undefined) throw refusal(applicant);
    newest.refuse(refusal(newest.applicant));
  }

  #take({ client, environment }: Applicant): void {
    this.#taken++;
    this.#byClient.set(client, (this.#byClient.get(client) ?? 0) + 1);
    this.#byEnvironment.set(environment, (this.#byEnvironment.get(environment) ?? 0) + 1);
  }

  #add(waiting: Waiting): void {
    const { client } = waiting.applicant;
    const others = this.#queue.get(client);
    if (others === undefined) this.#queue.set(client, new Set([waiting]));
    else others.add(waiting);
    this.#queued++;
  }

  #remove(waiting: Waiting): void {
    const { client } = waiting.applicant;
    const others = this.#queue.get(client);
    if (others?.delete(waiting) !== true) return;
    this.#queued--;
    if (others.size === 0) this.#queue.delete(client);
  }

  #refusal(applicant: Applicant, detail: string): MrlmError {
    const obstacle = this.#obstacle(applicant) ?? "The server has no free place";
    const delayMs = Math.min(Math.max(RETRY_MS.min, this.#limits.queueMs), RETRY_MS.max);
    return new MrlmError("RESOURCE_EXHAUSTED", `${obstacle}, and ${detail}.`, { retryDelayMs: jittered(delayMs) });
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const count = (counts.get(key) ?? 0) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
