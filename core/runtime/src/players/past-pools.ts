import type { CreateModelOptions, PlayerRef } from "@mrlm/spec/host";
import type { PolicyId } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { pastModel } from "../rollouts/past-versions.ts";
import { environmentsOf } from "./frozen-models.ts";

/** Copies that a run keeps of a policy. */
export interface PastPool {
  readonly policy: PolicyId;
  readonly every: number;
  readonly keep: number;
}

/** Returns the pools of the players of a run, one for each policy whose earlier versions play. */
export function pastPools(config: ResolvedConfig): PastPool[] {
  const players = environmentsOf(config).flatMap((environment) => Object.values(environment.players ?? {}));
  const pools = new Map<PolicyId, PastPool>();
  for (const player of players.filter(hasPast)) {
    const { every, keep } = player.past;
    // Players of one policy share its copies: `differingPools` refuses other settings.
    pools.set(player.policy, { policy: player.policy, every, keep });
  }
  return [...pools.values()];
}

/** Whether earlier versions of a policy play. */
export function hasPast(
  player: PlayerRef,
): player is Extract<PlayerRef, { policy: PolicyId }> & { readonly past: object } {
  return "policy" in player && player.past !== undefined;
}

/** Returns the options with which the engine copies the present weights of a policy. */
export function pastOptions(policy: PolicyId, version: number): CreateModelOptions {
  const model = pastModel(policy, version);
  return { model, role: "policy", source: { kind: "copy", of: policy }, trainable: false };
}
