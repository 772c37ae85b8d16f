import { HttpError } from "@mrlm/kit/http";
import { ownerOf } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";

/** Session that a client names by an id. */
export interface HeldSession {
  /** Resolves when the session has ended before its episode: its lease ended, or the server stops. */
  readonly lost: Promise<void>;
  /** Whether the session has a place on the server, whose lease ends it, or waits for one. */
  readonly hasPlace: boolean;
  /** Milliseconds since the latest request. */
  readonly idleMs: number;
  /** Starts the lease again. */
  touch(): void;
  /** Ends the episode. */
  close(): Promise<void>;
}

/** Ids of ended sessions for which clients get 410. */
const MAX_ENDED = 16_384;
/** Sessions without a place on the server. */
const MAX_WITHOUT_PLACE = 1_024;

/** Sessions by client and id. */
export class ClientSessions<Session extends HeldSession> {
  readonly #sessions = new Map<string, Session>();
  /** Ids of ended sessions, from the oldest on. */
  readonly #ended = new Set<string>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #leaseMs: number;
  readonly #hint: string;

  /**
   * @param leaseMs time without a request after which a session without a place is removed
   * @param hint what a client does about an unknown session
   */
  constructor(leaseMs: number, hint: string) {
    this.#leaseMs = leaseMs;
    this.#hint = hint;
    this.#sweeper = setInterval(() => this.#sweep(), Math.min(1_000, Math.max(10, leaseMs / 4))).unref();
  }

  /** Number of sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Whether there is such a session. */
  has(client: string | undefined, id: string): boolean {
    return this.#sessions.has(ownerOf(client, id));
  }

  /** Adds a session. Throws 400 if the id is in use. */
  add(client: string | undefined, id: string, session: Session): void {
    const key = ownerOf(client, id);
    if (this.#sessions.has(key))
      throw new HttpError(
        400,
        new MrlmError("MESSAGE_INVALID", "The session already exists.", { hint: "Choose another id." }),
      );
    this.#ended.delete(key);
    this.#sessions.set(key, session);
    void session.lost.then(() => (this.#sessions.get(key) === session ? this.#end(key) : undefined));
  }

  /** Returns a session, and extends its lease. Throws 410 for one that has ended, and 404 for any other id. */
  get(client: string | undefined, id: string): Session {
    const key = ownerOf(client, id);
    const session = this.#sessions.get(key);
    if (session === undefined) {
      const isGone = this.#ended.has(key);
      throw new HttpError(
        isGone ? 410 : 404,
        new MrlmError(
          "SESSION_NOT_FOUND",
          isGone
            ? "The session has ended: it was deleted, or no request arrived during its lease."
            : "There is no such session.",
          { hint: this.#hint },
        ),
      );
    }
    session.touch();
    return session;
  }

  /** Removes a session that could not start, so that its id can be used again. */
  async discard(client: string | undefined, id: string, session: Session): Promise<void> {
    const key = ownerOf(client, id);
    // The client may have deleted it, and begun another one by the same id.
    if (this.#sessions.get(key) === session) this.#sessions.delete(key);
    await session.close();
  }

  /** Ends a session. Does nothing for an unknown id. */
  async delete(client: string | undefined, id: string): Promise<void> {
    await this.#end(ownerOf(client, id));
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all(Array.from(this.#sessions.keys(), (key) => this.#end(key)));
  }

  async #end(key: string): Promise<void> {
    const session = this.#sessions.get(key);
    if (session === undefined) return;
    this.#sessions.delete(key);
    this.#ended.add(key);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    await session.close();
  }

  /** Ends the sessions without a place whose clients are gone, and the oldest ones above the limit. */
  #sweep(): void {
    const idle = [...this.#sessions].filter(([, session]) => !session.hasPlace);
    const surplus = idle.length - MAX_WITHOUT_PLACE;
    for (const [i, [key, session]] of idle.entries())
      if (i < surplus || session.idleMs > this.#leaseMs) void this.#end(key);
  }
}
