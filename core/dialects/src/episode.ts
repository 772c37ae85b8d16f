import { randomBytes } from "node:crypto";
import { ownerOf, type SessionTable } from "@mrlm/server/sessions";
import {
  type Action,
  type Message,
  MrlmError,
  type Observation,
  type Reward,
  score,
  type StepResult,
  type TaskId,
  type ToolDefinition,
} from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentRef } from "@mrlm/spec/host";

/** Choice of an episode by a client. */
export interface EpisodeRequest {
  readonly environment: EnvironmentRef;
  readonly task?: TaskId;
  readonly seed?: number;
  readonly leaseMs?: number;
  /** Name of the client among those that share the places of the server. */
  readonly client?: string;
}

export interface EpisodeEnd {
  readonly terminated: boolean;
  readonly truncated: boolean;
  /** Sum of the rewards of all steps; unscored if one step is. */
  readonly reward: Reward;
}

/** Calls that may wait for the one under way. */
const MAX_WAITING = 64;

/**
 * Episode of one agent in a session of the table. Actions that arrive at the same time are taken one after the other, in order. The session ends with the
 * episode, so that its place is free before the client disconnects.
 */
export class Episode {
  readonly description: EnvironmentDescription;
  readonly leaseMs: number;
  /** First observation: the task. */
  readonly first: Observation;
  /** Resolves when the session has ended, for any reason. */
  readonly sessionEnded: Promise<void>;
  readonly #sessions: SessionTable;
  readonly #owner: string;
  readonly #sessionId: Uint8Array;
  #latest: Observation;
  #tools: readonly ToolDefinition[];
  #reward: Reward = score(0);
  #end: EpisodeEnd | undefined;
  #failure: MrlmError | undefined;
  #steps = 0;
  #waiting = 0;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    sessions: SessionTable,
    identity: { readonly owner: string; readonly sessionId: Uint8Array; readonly ended: Promise<void> },
    start: {
      readonly observation: Observation;
      readonly leaseMs: number;
      readonly description: EnvironmentDescription;
    },
  ) {
    this.#sessions = sessions;
    this.#owner = identity.owner;
    this.#sessionId = identity.sessionId;
    this.sessionEnded = identity.ended;
    this.description = start.description;
    this.leaseMs = start.leaseMs;
    this.first = start.observation;
    this.#latest = start.observation;
    this.#tools = start.observation.tools ?? [];
  }

  /**
   * Resets an environment in a new session. Rejects as a reset does, and with CANCELLED when the signal is aborted.
   * @param protocol name of the dialect, for whose sessions clients have ids of their own
   */
  static async start(
    sessions: SessionTable,
    protocol: string,
    request: EpisodeRequest,
    signal: AbortSignal,
  ): Promise<Episode> {
    const owner = ownerOf(request.client, protocol);
    const sessionId = randomBytes(16);
    const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
    const operation = sessions.reset(owner, { ...request, sessionId, epoch: 1, onEnd }).join();
    const onAbort = (): void => operation.abort(cancelled());
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const start = await operation.promise;
      signal.throwIfAborted();
      return new Episode(sessions, { owner, sessionId, ended }, start);
    } catch (error) {
      await sessions.close(owner, sessionId);
      throw error;
    } finally {
      operation.leave();
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Latest observation. */
  get latest(): Observation {
    return this.#latest;
  }

  /** Tools of the next action. */
  get tools(): readonly ToolDefinition[] {
    return this.#tools;
  }

  /** Set when the episode has ended by its rules or by a limit. */
  get end(): EpisodeEnd | undefined {
    return this.#end;
  }

  /** Sum of the rewards so far; unscored if one is. */
  get reward(): Reward {
    return this.#reward;
  }

  /** Number of actions so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Whether no further action is possible. */
  get isOver(): boolean {
    return this.#end !== undefined || this.#failure !== undefined;
  }

  /**
   * Acts. Rejects with EPISODE_ENDED after the end, with SESSION_BUSY when too many actions wait, and as a step does. The episode has failed after a
   * rejected step; an abort of the signal fails it too, because the state of the environment is then unknown.
   */
  async act(message: Message, signal: AbortSignal, finishReason: Action["finishReason"] = "stop"): Promise<StepResult> {
    if (this.#waiting >= MAX_WAITING)
      throw new MrlmError("SESSION_BUSY", `The session got an action while ${MAX_WAITING} others waited.`);
    this.#waiting++;
    const result = this.#turn.then(() => {
      this.#waiting--;
      if (signal.aborted) throw cancelled();
      return this.#step(message, signal, finishReason);
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Extends the lease. */
  renew(): void {
    this.#sessions.renew(this.#owner, [this.#sessionId]);
  }

  /** Ends the session. */
  async close(): Promise<void> {
    await this.#sessions.close(this.#owner, this.#sessionId);
  }

  async #step(message: Message, signal: AbortSignal, finishReason: Action["finishReason"]): Promise<StepResult> {
    if (this.isOver)
      throw new MrlmError(
        "EPISODE_ENDED",
        this.#failure === undefined
          ? "The episode has ended."
          : `The episode has ended, because an action failed (${this.#failure.code}).`,
        { hint: "Open a new session for another episode." },
      );
    const { agent } = this.#latest;
    const operation = this.#sessions
      .step(this.#owner, {
        sessionId: this.#sessionId,
        epoch: 1,
        index: this.#steps++,
        action: { agent, message, finishReason },
      })
      .join();
    const onAbort = (): void => operation.abort(cancelled());
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const result = await operation.promise;
      if (result.observation.isFresh === true)
        throw new MrlmError(
          "ROLES_UNSUPPORTED",
          `Environment ${this.description.id} starts the conversation over, which clients of this protocol cannot see.`,
          { hint: "Play it over gRPC: its observations state where a conversation starts over (`isFresh`)." },
        );
      this.#receive(agent, result);
      return result;
    } catch (error) {
      // A refused action changes nothing in the environment.
      if (!MrlmError.hasCode(error, "OPTIONS_INVALID")) this.#failed(error);
      throw error;
    } finally {
      operation.leave();
      signal.removeEventListener("abort", onAbort);
    }
  }

  #receive(agent: string, { observation, rewards, terminated, truncated }: StepResult): void {
    this.#latest = observation;
    this.#tools = observation.tools ?? this.#tools;
    this.#reward = sum(this.#reward, rewards[agent] ?? score(0));
    const isTerminated = terminated[agent] === true;
    const isTruncated = truncated[agent] === true;
    if (observation.agent === agent && !isTerminated && !isTruncated) return;
    this.#end = { terminated: isTerminated, truncated: isTruncated, reward: this.#reward };
    void this.close();
  }

  #failed(error: unknown): void {
    this.#failure = MrlmError.isInstance(error) ? error : new MrlmError("INTERNAL", "An action failed.");
    void this.close();
  }
}

/** Adds rewards. An unscored one makes the sum unscored. */
function sum(one: Reward, other: Reward): Reward {
  if (!one.scored) return one;
  if (!other.scored) return other;
  const components: Record<string, number> = { ...one.components };
  for (const [name, value] of Object.entries(other.components)) components[name] = (components[name] ?? 0) + value;
  return score(one.value + other.value, components);
}

function cancelled(): MrlmError {
  return new MrlmError("CANCELLED", "The client cancelled the call.");
}
