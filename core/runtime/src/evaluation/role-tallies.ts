import { policyRoles } from "@mrlm/kit/learning";
import type { RoleId, TrajectoryGroup } from "@mrlm/spec";
import type { RewardRange } from "../rollouts/reward-watch.ts";
import { type EpisodeSummary, EpisodeTally } from "./summarise.ts";

/** Tallies of the parts that policies played: by role where they play several roles of a group, else together. */
export class RoleTallies {
  readonly #range: RewardRange | undefined;
  readonly #whole: EpisodeTally;
  readonly #roles = new Map<RoleId, EpisodeTally>();

  constructor(range?: RewardRange) {
    this.#range = range;
    this.#whole = new EpisodeTally(undefined, range);
  }

  add(group: TrajectoryGroup): void {
    for (const role of policyRoles([group]))
      if (!this.#roles.has(role)) this.#roles.set(role, new EpisodeTally(role, this.#range));
    for (const trajectory of group.trajectories)
      for (const tally of [this.#whole, ...this.#roles.values()]) tally.add(trajectory);
  }

  /** Returns the roles that are measured apart; `undefined` alone stands for all of them together. */
  roles(): readonly (RoleId | undefined)[] {
    return this.#roles.size === 0 ? [undefined] : [...this.#roles.keys()];
  }

  summary(role: RoleId | undefined): EpisodeSummary {
    return (role === undefined ? this.#whole : (this.#roles.get(role) ?? new EpisodeTally(role))).summary();
  }
}
