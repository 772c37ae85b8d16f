import { type Action, MrlmError, type Observation, type ResetOptions, type StepResult } from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef, EnvironmentSession } from "@mrlm/spec/host";
import type { RemoteEnvironment } from "./remote-environment.ts";
import type { ServerMember } from "./server-member.ts";

/** Call that may be made on any of the servers. */
export interface PoolCall<T> {
  readonly environment: EnvironmentRef;
  /** Server of the session, which is kept while it can open an episode. */
  readonly present?: ServerMember | undefined;
  readonly signals: readonly AbortSignal[];
  work(member: ServerMember): Promise<T>;
}

/** Several servers. */
export interface SessionPool {
  /** Makes a call on the preferred server, and on the next one where a server refuses it. Waits while no server can be reached. */
  place<T>(call: PoolCall<T>): Promise<T>;
  /** Compares the version of an environment with those of other servers. */
  opened(member: ServerMember, description: EnvironmentDescription): void;
  /** Drops removed servers without sessions. */
  sweep(): void;
}

/** Session of an environment on one of several servers. Each reset may move it, because an episode begins there. */
export class PooledSession implements EnvironmentSession {
  readonly #ref: EnvironmentRef;
  readonly #description: EnvironmentDescription;
  readonly #pool: SessionPool;
  readonly #restores: EnvironmentSession | undefined;
  readonly #closing = new AbortController();
  #seat: { readonly member: ServerMember; readonly session: RemoteEnvironment } | undefined;
  #isResetting = false;
  #episode: Uint8Array | undefined;

  /** @param restores lost session of the same episode */
  constructor(
    ref: EnvironmentRef,
    description: EnvironmentDescription,
    pool: SessionPool,
    restores: EnvironmentSession | undefined,
  ) {
    this.#restores = restores;
    this.#ref = ref;
    this.#description = description;
    this.#pool = pool;
  }

  get description(): EnvironmentDescription {
    return this.#seat?.session.description ?? this.#description;
  }

  /** Id of the first session of its episode; `undefined` before a server has it. */
  get episode(): Uint8Array | undefined {
    return this.#episode;
  }

  async reset(options: ResetOptions): Promise<Observation> {
    this.#assertFree("reset");
    this.#isResetting = true;
    try {
      return await this.#pool.place({
        environment: this.#ref,
        present: this.#seat?.member,
        signals: [options.signal, this.#closing.signal],
        work: (member) => member.faults.watch(this.#ref.id, async () => (await this.#sessionOn(member)).reset(options)),
      });
    } finally {
      this.#isResetting = false;
    }
  }

  async step(action: Action, options: { readonly signal: AbortSignal }): Promise<StepResult> {
    this.#assertFree("step");
    if (this.#seat === undefined)
      throw new MrlmError("EPISODE_ENDED", `Environment ${this.#ref.id} was stepped before any reset.`);
    const { member, session } = this.#seat;
    try {
      return await session.step(action, options);
    } catch (error) {
      if (!MrlmError.hasCode(error, "SERVER_UNAVAILABLE")) throw error;
      member.refused(error);
      // Another server can take the next episode, so the loss of this one is not final.
      if (error.retryDelayMs !== undefined) throw error;
      throw new MrlmError("SESSION_NOT_FOUND", `The session is lost with its server. ${error.message}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(this.#closedError());
    await this.#leave();
  }

  async #sessionOn(member: ServerMember): Promise<RemoteEnvironment> {
    if (this.#seat?.member === member) return this.#seat.session;
    // The server that is left may be lost; its session ends with its lease.
    void this.#leave().catch(() => undefined);
    const session = await member.host.open(this.#ref, { ...(this.#restores && { restores: this.#restores }) });
    this.#seat = { member, session };
    this.#pool.opened(member, session.description);
    this.#episode = session.episode;
    if (!this.#closing.signal.aborted) return session;
    await this.#leave();
    throw this.#closedError();
  }

  async #leave(): Promise<void> {
    const seat = this.#seat;
    this.#seat = undefined;
    try {
      await seat?.session.close();
    } finally {
      if (seat?.member.isRemoved === true) this.#pool.sweep();
    }
  }

  #assertFree(call: string): void {
    if (this.#closing.signal.aborted) throw this.#closedError();
    if (this.#isResetting)
      throw new MrlmError(
        "SESSION_BUSY",
        `Environment ${this.#ref.id} got a ${call} while it was still working on an earlier call.`,
      );
  }

  #closedError(): MrlmError {
    return new MrlmError("SESSION_NOT_FOUND", `This session of environment ${this.#ref.id} has been closed.`);
  }
}
