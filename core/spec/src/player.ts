import type { JsonObject } from "./json.ts";
import type { ModelId } from "./model.ts";
import type { OpenPolicy } from "./policy.ts";
import type { PolicyEpisode } from "./policy-source.ts";

/** Id of a model that the run trains. */
export type PolicyId = ModelId;

/** Pool of earlier versions of a policy: copies of its weights that do not change. */
export interface PastVersions {
  /** Weight versions from one copy to the next. The version at the start of the run is kept until newer ones take its place. */
  readonly every: number;
  /** Number of copies; the oldest is released for a new one. */
  readonly keep: number;
  /** Share of groups that meet the newest copy, from 0 to 1. The others meet one of all copies, each with the same probability. */
  readonly newest: number;
}

/** Reference to the player of a role, as a configuration states it. */
export type PlayerRef =
  /** A policy of this run; with `past`, its earlier versions. */
  | { readonly policy: PolicyId; readonly past?: PastVersions }
  /** A model that does not change: a directory, a run or a checkpoint. */
  | { readonly model: string }
  /** A model behind an OpenAI-compatible API: the URL, the name of the model there, the environment variable that holds the key. */
  | {
      readonly endpoint: string;
      readonly model: string;
      readonly api_key_env?: string;
      readonly options?: JsonObject;
    }
  /** A scripted policy of the environment, by its name in `EnvironmentDefinition.scriptedPolicies`; or `NAME@N`, a policy of a plugin. */
  | { readonly scripted: string; readonly options?: JsonObject };

/** Player of a role in a request for episodes, ready to act. */
export type Player =
  /** A policy of this run, under its id in the engine. */
  | { readonly kind: "policy"; readonly policy: PolicyId }
  /** An earlier version of a policy, drawn anew for each group. */
  | { readonly kind: "past"; readonly policy: PolicyId; readonly newest: number }
  | { readonly kind: "model"; readonly name: string; readonly model: ModelId }
  | {
      readonly kind: "scripted" | "endpoint";
      readonly name: string;
      /** Whether a plugin's policy acts. The time of its turns is counted apart from that of the environment. */
      readonly isOutside: boolean;
      /** Policy as which the player is recorded: the measured model of `mrlm eval` and `mrlm collect`, from whose messages a policy may learn. */
      readonly recordedAs?: PolicyId;
      /** Opens the policy of one agent of one episode. */
      open(episode: PolicyEpisode): Promise<OpenPolicy>;
    };

/** Player that acted as an agent, as a trajectory records it. Only tokens of the kind `policy` are learnt from. */
export interface PlayedBy {
  readonly kind: "policy" | "past" | "model" | "endpoint" | "scripted";
  readonly name: string;
  /** The policy, for the kinds `policy` and `past`. */
  readonly policy?: PolicyId;
  /** Weight version at the start of the episode, where it is known. */
  readonly version?: number;
}
