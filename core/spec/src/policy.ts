import type { Action } from "./action.ts";
import type { Observation } from "./observation.ts";

/** Whatever acts: a sampled language model, a scripted expert, a person at a keyboard. */
export interface Policy {
  act(observation: Observation, options: { readonly signal: AbortSignal }): Promise<Action>;
}
