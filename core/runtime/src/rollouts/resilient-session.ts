import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { traced, traceOption } from "@mrlm/kit/service";
import {
  type Action,
  type JsonObject,
  type JsonValue,
  type Logger,
  MrlmError,
  type Observation,
  type StepResult,
} from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import { EpisodeLost, type EpisodeSession } from "./episode.ts";
import type { EpisodePlan } from "./episode-plan.ts";
import { reportingSlow } from "./slow-calls.ts";

/** Sessions that one reset or step may lose. */
const MAX_LOSSES = 5;
/** Pause after a refusal that states none, in milliseconds. */
const REFUSED_MS = 1_000;

export interface ResilientSessionOptions {
  /** Longest wait for a host that refuses sessions, in milliseconds. */
  readonly maxWaitMs: number;
  readonly logger: Logger;
  /** State to which an environment with snapshots is restored after its reset, in which nothing is repeated. */
  readonly start?: JsonValue;
  /** Called before the session is opened again. */
  onLoss(error: MrlmError): void;
}

/**
 * Session of an episode that continues after its host lost it: it opens another session and repeats the past actions. Only a
 * deterministic environment allows this; the episode of any other is lost and begins again.
 */
export class ResilientSession implements EpisodeSession {
  readonly #plan: EpisodePlan;
  readonly #host: EnvironmentHost;
  readonly #options: ResilientSessionOptions;
  readonly #past: { readonly action: Action; readonly result: StepResult }[] = [];
  #first: Observation | undefined;
  #live: EnvironmentSession | undefined;
  /** Latest session, which may be lost. */
  #latest: EnvironmentSession | undefined;

  constructor(plan: EpisodePlan, host: EnvironmentHost, options: ResilientSessionOptions) {
    this.#plan = plan;
    this.#host = host;
    this.#options = options;
  }

  async reset(): Promise<Observation> {
    return this.#watched("reset", () => this.#retry(() => this.#restore()));
  }

  async step(action: Action): Promise<StepResult> {
    const result = await this.#watched("step", () =>
      this.#retry(async () => {
        if (this.#live === undefined) await this.#restore();
        return (this.#live as EnvironmentSession).step(action, { signal: this.#plan.signal, ...traceOption() });
      }),
    );
    this.#past.push({ action, result });
    return result;
  }

  /** Returns the state of an environment with snapshots. */
  async snapshot(): Promise<JsonValue> {
    const snapshot = await this.#live?.snapshot?.({ signal: this.#plan.signal });
    if (snapshot !== undefined) return snapshot;
    throw new MrlmError("INTERNAL", `The session of episode ${this.#plan.id} has no snapshot.`);
  }

  async close(): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    try {
      await live?.close();
    } catch (error) {
      this.#options.logger.warn(`Closing the session of episode ${this.#plan.id} failed.`, { error: String(error) });
    }
  }

  /** Opens a session, restores its start and repeats the past actions in it. */
  async #restore(): Promise<Observation> {
    const { environment, identity, seed, signal, description } = this.#plan;
    if (this.#past.length > 0 && description.determinism === "none")
      throw new EpisodeLost(this.#plan.id, `environment ${description.id} cannot be brought back to where it was`);
    const session = await this.#host.open(environment, this.#latest === undefined ? {} : { restores: this.#latest });
    this.#live = session;
    this.#latest = session;
    const observation = await session.reset({
      task: identity.task,
      ...(seed === null ? {} : { seed }),
      signal,
      ...traceOption(),
    });
    if (this.#past.length === 0) this.#first = observation;
    else this.#compare(observation, this.#first);
    await this.#restoreStart(session);
    for (const { action, result } of this.#past)
      this.#compare(await session.step(action, { signal, ...traceOption() }), result);
    return observation;
  }

  async #restoreStart(session: EnvironmentSession): Promise<void> {
    const { start } = this.#options;
    if (start === undefined) return;
    if (session.restore === undefined)
      throw new MrlmError("INTERNAL", `The session of episode ${this.#plan.id} cannot be restored.`);
    await session.restore(start, { signal: this.#plan.signal });
  }

  #compare(now: Observation | StepResult, before: Observation | StepResult | undefined): void {
    if (isDeepStrictEqual(withoutServices(now), withoutServices(before))) return;
    this.#options.logger.warn(
      `Environment ${this.#plan.description.id} promises to be deterministic but answered otherwise when episode ${this.#plan.id} was repeated.`,
    );
    throw new EpisodeLost(this.#plan.id, "its environment answered otherwise when it was repeated");
  }

  #watched<T>(phase: "reset" | "step", work: () => Promise<T>): Promise<T> {
    const { description, identity } = this.#plan;
    const [environment, { task }] = [description.id, identity];
    const attributes = () => ({ "mrlm.environment": environment, "mrlm.task": task });
    const call = { environment, task, phase, logger: this.#options.logger };
    return traced(`environment ${phase}`, attributes, () => reportingSlow(call, work), { kind: "client" });
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    const { maxWaitMs, onLoss } = this.#options;
    return retry(work, {
      maxWaitMs,
      signal: this.#plan.signal,
      onLoss: (error) => {
        void this.close();
        onLoss(error);
      },
    });
  }
}

/**
 * The host adds usage of tools and judgements to the info of a step: seconds, and texts of a model that judges, differ in each repetition. So do the counts of an agent's program, which has
 * repeated calls of its own.
 */
function withoutServices<T extends { readonly info?: JsonObject } | undefined>(result: T): unknown {
  if (result?.info === undefined) return result;
  const { tools: _, judgements: __, agent: ___, ...info } = result.info;
  return { ...result, info };
}

/**
 * Repeats work whose session the host lost or refused, each time with a new session. A lost session is repeated at once, a refused one
 * after the delay that the host states, until the refusals have lasted `maxWaitMs`.
 *
 * Connection losses are not repeated here: the client of an environment server waits for the server, and its SERVER_UNAVAILABLE is final.
 * @param options.onLoss called before each repetition
 */
async function retry<T>(
  work: () => Promise<T>,
  options: { readonly maxWaitMs: number; readonly signal: AbortSignal; onLoss(error: MrlmError): void },
): Promise<T> {
  const { maxWaitMs, signal, onLoss } = options;
  let refusedSince: number | undefined;
  for (let losses = 0; ;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      if (isLoss(error)) {
        if (++losses > MAX_LOSSES) throw error;
        onLoss(error);
      } else if (isRefusal(error)) {
        const delayMs = error.retryDelayMs ?? REFUSED_MS;
        refusedSince ??= performance.now();
        if (performance.now() + delayMs - refusedSince > maxWaitMs) throw error;
        onLoss(error);
        await sleep(delayMs, undefined, { signal }).catch(() => {
          throw new MrlmError("CANCELLED", "The wait for a session was cancelled.", { cause: signal.reason });
        });
      } else throw error;
    }
  }
}

function isLoss(error: unknown): error is MrlmError {
  return MrlmError.hasCode(error, "SESSION_NOT_FOUND") && !(error instanceof EpisodeLost);
}

/** Whether a host that can be reached has no room, or stops and states when to come back. */
function isRefusal(error: unknown): error is MrlmError {
  return (
    (MrlmError.hasCode(error, "RESOURCE_EXHAUSTED") && error.isRetryable) ||
    (MrlmError.hasCode(error, "SERVER_UNAVAILABLE") && error.retryDelayMs !== undefined)
  );
}
