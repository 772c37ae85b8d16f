import { hash } from "node:crypto";
import { traced, traceOption } from "@mrlm/kit/service";
import { type Logger, MrlmError, type StepResult } from "@mrlm/spec";
import { type EnvironmentHost, type EnvironmentRef, type EnvironmentSession, readTrace } from "@mrlm/spec/host";
import { inCall } from "./call-context.ts";
import type { MeasuredPhase, ServerMetrics } from "./server-metrics.ts";
import { invalid } from "./invalid.ts";
import { logFailure } from "./log-fault.ts";
import { Operation } from "./operation.ts";
import type { SessionReset, SessionStart, SessionStep } from "./requests.ts";

/** Limit of resets that wait for earlier ones to end. Each reset aborts the previous one, and an environment may take time to abort. */
const MAX_WAITING_RESETS = 16;

/** Services of the session table for a session. */
export interface SessionSupport {
  readonly host: EnvironmentHost;
  /** Waits for a free place. Rejects with RESOURCE_EXHAUSTED. */
  admit(session: HostedSession, signal: AbortSignal): Promise<void>;
  readonly logger: Logger;
  readonly metrics: ServerMetrics;
  /** Removes a session that has no environment, and frees its place. */
  discard(session: HostedSession): void;
}

/** Latest reset or step. Its response is kept for a repeated call. */
interface Latest {
  /** -1 for a reset. */
  readonly index: number;
  readonly operation: Operation<SessionStart> | Operation<StepResult>;
}

/**
 * Environment of one client. Resets are numbered by epoch, steps by index within the epoch; each is carried out once, also when it is
 * repeated. Epochs may have gaps: resets that were cancelled before they were sent.
 */
export class HostedSession {
  readonly key: string;
  readonly owner: string;
  /** Name of the client, to which places are granted in turn with others. */
  readonly client: string;
  /** Id of the environment, once it is known: requests may name it without a version. */
  environment = "";
  readonly leaseMs: number;
  /** Time at which the lease ends unless a request arrives before, in milliseconds of `performance.now()`. */
  expiresAt = 0;
  /** Called once when the session has left the table. */
  readonly onEnd: (() => void) | undefined;
  /** Whether the session has a place from `admit`. */
  isAdmitted = false;
  readonly #support: SessionSupport;
  readonly #ref: EnvironmentRef;
  readonly #refKey: string;
  readonly #name: string;
  #environment: EnvironmentSession | undefined;
  #epoch = 0;
  #latest: Latest | undefined;
  /** Of the steps. Only one is under way at a time. */
  #controller = new AbortController();
  #waitingResets = 0;
  #isClosed = false;

  constructor(
    identity: { readonly key: string; readonly owner: string },
    request: SessionReset,
    leaseMs: number,
    support: SessionSupport,
  ) {
    this.key = identity.key;
    this.owner = identity.owner;
    // Names of clients and sessions are in logs; identities and ids are secrets of their clients.
    this.#name = digest(identity.key).slice(0, 16);
    this.client = request.client ?? `client-${digest(identity.owner).slice(0, 8)}`;
    this.leaseMs = leaseMs;
    this.#support = support;
    this.onEnd = request.onEnd;
    this.#ref = request.environment;
    this.#refKey = keyOf(request.environment);
    this.touch();
  }

  /** Number of the latest reset. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Starts the lease again. */
  touch(): void {
    this.expiresAt = performance.now() + this.leaseMs;
  }

  /** Whether the lease has ended. It does not end while a client waits for a response. */
  isExpired(now: number): boolean {
    const operation = this.#latest?.operation;
    return now > this.expiresAt && (operation === undefined || operation.isSettled || operation.isAbandoned);
  }

  reset(request: SessionReset): Operation<SessionStart> {
    this.touch();
    if (keyOf(request.environment) !== this.#refKey) {
      throw invalid(
        `a session of environment "${this.#ref.id}" was reset as another environment, or with other options`,
      );
    }
    const { epoch } = request;
    if (epoch === this.#epoch && this.#latest?.index === -1) return this.#latest.operation as Operation<SessionStart>;
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
    before?.abort(new MrlmError("CANCELLED", "The session was reset during another call."));
    const { seed, task, deadlineMs = 0 } = request;
    const trace = this.#traceOf(request);
    const operation = new Operation("reset", deadlineMs, async (signal) => {
      this.#waitingResets++;
      await before?.promise.catch(() => undefined);
      this.#waitingResets--;
      const environment = this.#environment ?? (await this.#open(epoch, signal));
      const observation = await this.#observe("reset", trace, () =>
        environment.reset({
          ...(seed !== undefined && { seed }),
          ...(task !== undefined && { task }),
          ...traceOption(trace),
          signal,
        }),
      );
      return { observation, leaseMs: this.leaseMs, description: environment.description };
    });
    return this.#begin(-1, operation);
  }

  step(request: SessionStep): Operation<StepResult> {
    this.touch();
    const { epoch, index, action, deadlineMs = 0, isDecoded = false } = request;
    const latest = this.#latest;
    if (latest === undefined || epoch !== this.#epoch) {
      throw new MrlmError("STEP_OUT_OF_ORDER", `A session at epoch ${this.#epoch} got a step of epoch ${epoch}.`);
    }
    if (index === latest.index) return latest.operation as Operation<StepResult>;
    if (index !== latest.index + 1) {
      throw new MrlmError("STEP_OUT_OF_ORDER", `A session got step ${index} where ${latest.index + 1} comes next.`);
    }
    if (!latest.operation.isSettled)
      throw new MrlmError("SESSION_BUSY", `A session got step ${index} while it was still working on the call before.`);
    const environment = this.#environment;
    if (environment === undefined)
      throw new MrlmError("EPISODE_ENDED", "A session was stepped whose reset had failed.");
    const trace = this.#traceOf(request);
    const work = (signal: AbortSignal): Promise<StepResult> =>
      this.#observe("step", trace, () => environment.step(action, { signal, isDecoded, ...traceOption(trace) }));
    if (this.#controller.signal.aborted) this.#controller = new AbortController();
    return this.#begin(index, new Operation("step", deadlineMs, work, this.#controller));
  }

  /** Aborts the call under way and closes the environment. */
  async close(reason: MrlmError): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const operation = this.#latest?.operation;
    operation?.abort(reason);
    const environment = this.#environment;
    if (environment !== undefined) await this.#observe("close", undefined, () => environment.close());
  }

  /** Runs a call of the environment: its log lines have the call's context, and its time and failure are measured. */
  async #observe<T>(phase: MeasuredPhase, trace: string | undefined, work: () => Promise<T>): Promise<T> {
    const { metrics, logger } = this.#support;
    const { environment, client } = this;
    const started = performance.now();
    const call = {
      session: this.#name,
      environment,
      client,
      ...(trace !== undefined && { trace: trace.split("-")[1] as string }),
    };
    try {
      const attributes = () => ({ "mrlm.environment": environment, "mrlm.session": this.#name });
      const serving = (): Promise<T> =>
        traced(`environment ${phase}`, attributes, work, { kind: "server", parent: trace });
      return await inCall(call, serving);
    } catch (error) {
      inCall(call, () => {
        metrics.failed(environment, phase, error);
        logFailure(logger, phase, error);
      });
      throw error;
    } finally {
      metrics.called(environment, phase, started);
    }
  }

  /** Returns the trace of a request. A malformed one is counted and ignored. */
  #traceOf({ trace }: { readonly trace?: string }): string | undefined {
    const known = trace === undefined ? undefined : readTrace(trace);
    if (known === undefined && trace !== undefined) this.#support.metrics.malformedTrace();
    return known;
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
      this.environment = (await host.describe(this.#ref)).id;
      if (!this.isAdmitted) {
        const started = performance.now();
        await this.#support.admit(this, signal);
        this.#support.metrics.waited(started);
      }
      this.isAdmitted = true;
      // The session may have been closed when its place was granted.
      signal.throwIfAborted();
      const environment = await host.open(this.#ref, { session: this.key });
      this.#environment = environment;
      if (this.#isClosed) await environment.close();
      signal.throwIfAborted();
      return environment;
    } catch (error) {
      this.#support.metrics.failed(this.environment, "reset", error);
      // A later reset that waits for this one will open the environment.
      const isWanted = !this.#isClosed && (this.#environment !== undefined || epoch !== this.#epoch);
      if (!isWanted) this.#support.discard(this);
      throw error;
    }
  }
}

function digest(secret: string): string {
  return hash("sha256", Buffer.from(secret, "latin1"), "hex");
}

function keyOf({ id, options }: EnvironmentRef): string {
  return options === undefined ? id : `${id} ${JSON.stringify(options)}`;
}
