import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Determinism } from "./determinism.ts";
import type { AgentId, RoleId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { OpenPolicy } from "./policy.ts";
import type { RolloutSampling } from "./rollout-sampling.ts";

/** Agent of an episode for which a policy is opened. */
export interface PolicyEpisode {
  /** Id of the environment. */
  readonly environment: string;
  readonly task: TaskId;
  readonly role: RoleId;
  readonly agent: AgentId;
  /** 32 bits, of this agent in this episode. A repeated episode has the same. */
  readonly seed: number;
  /** Sampling parameters of the episode. The temperature of a greedy evaluation is 0. */
  readonly sampling: RolloutSampling;
  /** Aborted when opening must stop. */
  readonly signal: AbortSignal;
}

/** Source of the policies of a plugin, which act as players in any environment. */
export interface PolicySource<PlayerOptions = JsonObject> {
  /** Record of the player: `endpoint` for a model behind an API. Default `scripted`. */
  readonly kind?: "scripted" | "endpoint";
  /** Guarantee about repeated episodes; default `full`. An episode promises at most the least of its players and its environment. */
  readonly determinism?: Determinism;
  /** Schema that validates the options of a player; any Standard Schema. Without one a player has no options. */
  readonly options?: StandardSchemaV1<unknown, PlayerOptions>;
  /** Longest call of `open` and of `act` in milliseconds; default 60,000. Later the episode fails with PLAYER_FAILED. */
  readonly timeoutMs?: number;
  /**
   * Opens the policy of one agent. A rejection, here or in `act`, fails the episode with its code: the episode is counted and has no reward. Other episodes
   * continue.
   * @param options of the player, as the schema returned them
   */
  open(episode: PolicyEpisode, options: PlayerOptions): OpenPolicy | Promise<OpenPolicy>;
  /** Releases what all episodes share. Called once, when the process ends its work. */
  close?(): Promise<void>;
}
