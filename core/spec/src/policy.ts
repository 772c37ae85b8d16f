import type { Action } from "./action.ts";
import type { Observation } from "./observation.ts";

/** Maps observations to actions: a sampled language model, a script, or a person. */
export interface Policy {
  act(observation: Observation, options: { readonly signal: AbortSignal }): Promise<Action>;
}
