import { type Action, type JsonValue, MrlmError, type Observation, type StepResult } from "@mrlm/spec";
import type { EpisodeSession } from "./episode.ts";
import type { EpisodeStates } from "./episode-plan.ts";
import type { ResilientSession } from "./resilient-session.ts";

/** Session of an episode whose states are kept for its branches. */
export class KeepingSession implements EpisodeSession {
  readonly #session: ResilientSession;
  readonly #states: EpisodeStates;

  constructor(session: ResilientSession, states: EpisodeStates) {
    this.#session = session;
    this.#states = states;
  }

  async reset(): Promise<Observation> {
    this.#states.steps.length = 0;
    return (this.#states.first = await this.#session.reset());
  }

  async step(action: Action): Promise<StepResult> {
    const result = await this.#session.step(action);
    const snapshot = result.observation.agent === "" ? undefined : await this.#session.snapshot();
    this.#states.steps.push({ result, snapshot });
    return result;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** Returns the state of an episode before one of its turns. */
export function stateBefore({ steps }: EpisodeStates, turn: number): JsonValue {
  const state = steps[turn - 1]?.snapshot;
  if (state === undefined) throw new MrlmError("INTERNAL", `An episode has no state before turn ${turn + 1}.`);
  return state;
}

/** Session of a branch. It returns what its episode was returned in the repeated turns, and continues in a session that starts in the state after them. */
export class RestoredSession implements EpisodeSession {
  readonly #session: ResilientSession;
  readonly #states: EpisodeStates;
  readonly #repeated: number;
  #steps = 0;

  /** @param session with the state after the repeated turns as its start */
  constructor(session: ResilientSession, states: EpisodeStates, repeated: number) {
    this.#session = session;
    this.#states = states;
    this.#repeated = repeated;
  }

  async reset(): Promise<Observation> {
    return this.#states.first as Observation;
  }

  async step(action: Action): Promise<StepResult> {
    const at = this.#steps++;
    return at < this.#repeated ? (this.#states.steps[at]?.result as StepResult) : this.#session.step(action);
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}
