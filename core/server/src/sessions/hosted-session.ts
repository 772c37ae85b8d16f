import { type EnvironmentHost, type EnvironmentRef, type EnvironmentSession, MrlmError } from "@mrlm/spec";
import {
  decodeAction,
  decodeEnvironmentRef,
  encodeObservation,
  encodeStep,
  type environmentProto as wire,
  fromInt64,
  invalid,
} from "@mrlm/wire";
import { Operation } from "./operation.ts";

/** Resets that wait for those before them to end. Each aborts the one before it, which an environment may take its time to notice. */
const MAX_WAITING_RESETS = 16;

/** What a session asks of those who hold it. */
export interface SessionSupport {
  readonly host: EnvironmentHost;
  /** Waits until there is room for one more environment; rejects with RESOURCE_EXHAUSTED. */
  admit(signal: AbortSignal): Promise<void>;
  /** There will be no environment: the session is to be forgotten, and what it took up given back. */
  discard(session: HostedSession): void;
}

/** The latest reset or step: its answer is kept, and given again when the call is repeated. */
interface Latest {
  /** -1 for a reset. */
  readonly index: number;
  readonly operation: Operation<wire.ResetResponse> | Operation<wire.StepResponse>;
}

/**
 * One client's environment. Resets are numbered by their epoch and steps by their index within it; each is carried out once,
 * however often it arrives. Epochs may be left out: those of resets that were given up before they were sent.
 */
export class HostedSession {
  readonly key: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** Milliseconds of `performance.now()` at which the lease ends, unless something is heard of the session before. */
  expiresAt = 0;
  /** Whether `admit` let it in, so that it takes up room. */
  isAdmitted = false;
  readonly #support: SessionSupport;
  readonly #ref: EnvironmentRef;
  readonly #refKey: string;
  #environment: EnvironmentSession | undefined;
  #epoch = 0;
  #latest: Latest | undefined;
  #waitingResets = 0;
  #isClosed = false;

  constructor(
    identity: { readonly key: string; readonly owner: string },
    request: wire.ResetRequest,
    leaseMs: number,
    support: SessionSupport,
  ) {
    this.key = identity.key;
    this.owner = identity.owner;
    this.leaseMs = leaseMs;
    this.#support = support;
    this.#ref = decodeEnvironmentRef(request.environment);
    this.#refKey = keyOf(request.environment);
    this.touch();
  }

  /** The lease starts again. */
  touch(): void {
    this.expiresAt = performance.now() + this.leaseMs;
  }

  /** Nothing was heard of it for its lease; while a client waits for an answer it cannot expire. */
  isExpired(now: number): boolean {
    const operation = this.#latest?.operation;
    return now > this.expiresAt && (operation === undefined || operation.isSettled || operation.isAbandoned);
  }

  reset(request: wire.ResetRequest): Operation<wire.ResetResponse> {
    this.touch();
    if (keyOf(request.environment) !== this.#refKey) {
      throw invalid(
        `a session of environment "${this.#ref.id}" was reset as another environment, or with other options`,
      );
    }
    const { epoch } = request;
    if (epoch === this.#epoch && this.#latest?.index === -1)
      return this.#latest.operation as Operation<wire.ResetResponse>;
    if (epoch <= this.#epoch) {
      throw new MrlmError(
        "STEP_OUT_OF_ORDER",
        `A session at epoch ${this.#epoch} was reset with epoch ${epoch}; a higher one comes next.`,
      );
    }
    if (this.#waitingResets >= MAX_WAITING_RESETS)
      throw new MrlmError(
        "SESSION_BUSY",
        `A session got reset ${epoch} while ${MAX_WAITING_RESETS} others waited for its environment.`,
      );
    this.#epoch = epoch;
    const before = this.#latest?.operation;
    before?.abort(new MrlmError("CANCELLED", "The session was reset while it was at work."));
    const operation = new Operation("reset", request.deadlineMs, async (signal) => {
      this.#waitingResets++;
      await before?.promise.catch(() => undefined);
      this.#waitingResets--;
      const environment = this.#environment ?? (await this.#open(epoch, signal));
      const observation = await environment.reset({
        ...(request.seed !== undefined && { seed: fromInt64(request.seed, "a seed") }),
        ...(request.task !== "" && { task: request.task }),
        signal,
      });
      return {
        observation: encodeObservation(observation),
        leaseMs: this.leaseMs,
        maxTurns: environment.description.maxTurns,
      };
    });
    return this.#begin(-1, operation);
  }

  step(request: wire.StepRequest): Operation<wire.StepResponse> {
    this.touch();
    const { epoch, index } = request;
    const latest = this.#latest;
    if (latest === undefined || epoch !== this.#epoch) {
      throw new MrlmError("STEP_OUT_OF_ORDER", `A session at epoch ${this.#epoch} got a step of epoch ${epoch}.`);
    }
    if (index === latest.index) return latest.operation as Operation<wire.StepResponse>;
    if (index !== latest.index + 1) {
      throw new MrlmError("STEP_OUT_OF_ORDER", `A session got step ${index} where ${latest.index + 1} comes next.`);
    }
    if (!latest.operation.isSettled)
      throw new MrlmError("SESSION_BUSY", `A session got step ${index} while it was still working on the call before.`);
    const environment = this.#environment;
    if (environment === undefined)
      throw new MrlmError("EPISODE_ENDED", "A session was stepped whose reset had failed.");
    const action = decodeAction(request.action);
    return this.#begin(
      index,
      new Operation("step", request.deadlineMs, async (signal) =>
        encodeStep(await environment.step(action, { signal })),
      ),
    );
  }

  /** Aborts what is under way and closes the environment. */
  async close(reason: MrlmError): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const operation = this.#latest?.operation;
    operation?.abort(reason);
    await this.#environment?.close();
  }

  #begin<T extends Latest["operation"]>(index: number, operation: T): T {
    this.#latest = { index, operation };
    operation.promise.then(
      () => this.touch(),
      () => this.touch(),
    );
    return operation;
  }

  async #open(epoch: number, signal: AbortSignal): Promise<EnvironmentSession> {
    const { host } = this.#support;
    try {
      if (!this.isAdmitted) await this.#support.admit(signal);
      this.isAdmitted = true;
      // A place may be granted in the same moment in which the session is closed.
      signal.throwIfAborted();
      const environment = await host.open(this.#ref);
      this.#environment = environment;
      if (this.#isClosed) await environment.close();
      signal.throwIfAborted();
      return environment;
    } catch (error) {
      // A later reset that waits for this one opens the environment in its stead.
      const isWanted = !this.#isClosed && (this.#environment !== undefined || epoch !== this.#epoch);
      if (!isWanted) this.#support.discard(this);
      throw error;
    }
  }
}

function keyOf(ref: wire.EnvironmentRef | undefined): string {
  return `${ref?.id} ${ref?.optionsJson}`;
}
