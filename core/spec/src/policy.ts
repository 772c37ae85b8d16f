import type { Action } from "./action.ts";
import type { Observation } from "./observation.ts";

/** Maps observations to actions: a sampled language model, a script, or a person. */
export interface Policy {
  act(observation: Observation, options: { readonly signal: AbortSignal }): Promise<Action>;
}

/** Policy of one agent in one episode. */
export interface OpenPolicy extends Policy {
  /** Releases what the episode used. The host calls it once. */
  close?(): Promise<void>;
}
