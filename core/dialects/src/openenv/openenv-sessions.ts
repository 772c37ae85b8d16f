import { ownerOf } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";
import type { DialectContext } from "../dialect.ts";
import { OpenEnvSession } from "./openenv-session.ts";

/** Sessions without a WebSocket and without an episode. */
const MAX_IDLE = 1_024;
const RETRY_MS = 1_000;

/** Sessions by client and id. A session without a WebSocket ends when no request arrives during a lease. */
export class OpenEnvSessions {
  readonly #context: DialectContext;
  readonly #sessions = new Map<string, OpenEnvSession>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(context: DialectContext) {
    this.#context = context;
    const { leaseMs } = context.sessions.limits;
    this.#sweeper = setInterval(() => this.#sweep(leaseMs), Math.min(1_000, Math.max(10, leaseMs / 4))).unref();
  }

  /** Number of sessions. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Opens a session for one WebSocket. */
  openAttached(environment: string, client: string | undefined): OpenEnvSession {
    const session = new OpenEnvSession(this.#context, { environment, client, endsWithSocket: true });
    session.isAttached = true;
    this.#sessions.set(ownerOf(client, session.id), session);
    return session;
  }

  /** Opens a session without a WebSocket. Throws RESOURCE_EXHAUSTED above the limit of unused ones. */
  open(environment: string, client: string | undefined): OpenEnvSession {
    const unused = [...this.#sessions.values()].filter((each) => !each.isAttached && !each.hasEpisode).length;
    if (unused >= MAX_IDLE)
      throw new MrlmError("RESOURCE_EXHAUSTED", `The server has ${unused} sessions without an episode.`, {
        hint: "Close sessions, or wait until their leases end.",
        retryDelayMs: RETRY_MS,
      });
    const session = new OpenEnvSession(this.#context, { environment, client, endsWithSocket: false });
    this.#sessions.set(ownerOf(client, session.id), session);
    return session;
  }

  /** Returns a session, and extends its lease. Throws SESSION_NOT_FOUND. */
  get(client: string | undefined, id: string, environment: string | undefined): OpenEnvSession {
    const session = this.#sessions.get(ownerOf(client, id));
    if (session === undefined || (environment !== undefined && environment !== session.environment))
      throw new MrlmError(
        "SESSION_NOT_FOUND",
        "The session does not exist (any more): it was closed, or its lease ended.",
        {
          hint: "Open a new session.",
        },
      );
    session.touch();
    return session;
  }

  /** Attaches a WebSocket to a session. Throws SESSION_NOT_FOUND, and SESSION_BUSY if it has one. */
  attach(client: string | undefined, id: string, environment: string | undefined): OpenEnvSession {
    const session = this.get(client, id, environment);
    if (session.isAttached) throw new MrlmError("SESSION_BUSY", "The session has a WebSocket already.");
    session.isAttached = true;
    return session;
  }

  /** Ends the use of a session by a WebSocket. @param isLost whether the connection broke; the client may then attach another one during the lease */
  async detach(session: OpenEnvSession, isLost: boolean): Promise<void> {
    session.isAttached = false;
    session.touch();
    if (session.endsWithSocket && (!isLost || !session.hasEpisode)) await this.end(session);
  }

  /** Ends a session. */
  async end(session: OpenEnvSession): Promise<void> {
    this.#sessions.delete(ownerOf(session.client, session.id));
    await session.close();
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.all(Array.from(this.#sessions.values(), (session) => this.end(session)));
  }

  #sweep(leaseMs: number): void {
    for (const session of this.#sessions.values())
      if (!session.isAttached && session.idleMs > leaseMs) void this.end(session);
  }
}
