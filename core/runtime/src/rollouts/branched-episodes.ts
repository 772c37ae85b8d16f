import type { Trajectory } from "@mrlm/spec";
import type { RolloutRequest } from "@mrlm/spec/host";
import { branchPlans, type BranchRecord, branchRecord, withBranches } from "./branches.ts";
import type { EpisodePlan } from "./episode-plan.ts";

interface Branched {
  readonly plan: EpisodePlan;
  readonly trajectory: Trajectory;
  /** Records by plan, in the order of the plans. */
  readonly records: Map<EpisodePlan, BranchRecord | undefined>;
  left: number;
}

/** Joins episodes with their branches. */
export class BranchedEpisodes {
  readonly #branches: NonNullable<RolloutRequest["branches"]>;
  readonly #onWhole: (plan: EpisodePlan, trajectory: Trajectory) => void;
  /** Episodes whose branches are played, by the plan of each branch. */
  readonly #open = new Map<EpisodePlan, Branched>();

  /** @param onWhole receives each episode with its branches */
  constructor(
    branches: NonNullable<RolloutRequest["branches"]>,
    onWhole: (plan: EpisodePlan, trajectory: Trajectory) => void,
  ) {
    this.#branches = branches;
    this.#onWhole = onWhole;
  }

  /** Adds an episode or a branch that was played. Returns the plans of the branches of an episode. */
  add(plan: EpisodePlan, trajectory: Trajectory): readonly EpisodePlan[] {
    const branched = this.#open.get(plan);
    if (plan.branch === undefined || branched === undefined) return this.#begin(plan, trajectory);
    this.#open.delete(plan);
    branched.records.set(plan, branchRecord(plan, trajectory));
    if (--branched.left === 0) this.#end(branched);
    return [];
  }

  #begin(plan: EpisodePlan, trajectory: Trajectory): readonly EpisodePlan[] {
    const plans = branchPlans(plan, trajectory, this.#branches);
    const records = new Map(plans.map((each) => [each, undefined]));
    const branched = { plan, trajectory, records, left: plans.length };
    for (const each of plans) this.#open.set(each, branched);
    if (plans.length === 0) this.#whole(plan, trajectory);
    return plans;
  }

  #end({ plan, trajectory, records }: Branched): void {
    const byTurn = new Map<number, BranchRecord[]>();
    for (const [{ branch }, record] of records) {
      const turn = branch?.turn as number;
      byTurn.set(turn, [...(byTurn.get(turn) ?? []), record as BranchRecord]);
    }
    this.#whole(plan, withBranches(trajectory, byTurn));
  }

  #whole(plan: EpisodePlan, trajectory: Trajectory): void {
    // The plans of groups live as long as their request.
    if (plan.states !== undefined) plan.states.steps.length = 0;
    this.#onWhole(plan, trajectory);
  }
}
