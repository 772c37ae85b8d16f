import type { ModelId, PolicyId } from "@mrlm/spec";
import type { Trainer } from "@mrlm/spec/host";
import { pastOptions, type PastPool } from "../players/past-pools.ts";
import { pastModel } from "../rollouts/past-versions.ts";

/** Copies of earlier versions of policies in the engine. */
export class PastCopies {
  readonly #pools: ReadonlyMap<PolicyId, PastPool>;
  readonly #kept: Record<PolicyId, readonly number[]>;

  /** @param kept versions of the copies that the engine holds, ascending, by policy; the run's state, which this updates */
  constructor(pools: readonly PastPool[], kept: Record<PolicyId, readonly number[]>) {
    this.#pools = new Map(pools.map((pool) => [pool.policy, pool]));
    this.#kept = kept;
  }

  /** Versions of a policy that can play, ascending. */
  versions(policy: PolicyId): readonly number[] {
    return this.#kept[policy] ?? [];
  }

  /** Whether the engine holds a model as a copy. */
  has(model: ModelId): boolean {
    return Object.entries(this.#kept).some(([policy, versions]) =>
      versions.some((version) => pastModel(policy, version) === model),
    );
  }

  /** Copies newly published weights where a copy is due. Releases the oldest copies beyond the limit before, so that the engine never holds more. */
  async follow(
    engine: Pick<Trainer, "createModel" | "releaseModel">,
    policy: PolicyId,
    version: number,
  ): Promise<void> {
    const pool = this.#pools.get(policy);
    const kept = this.versions(policy);
    if (pool === undefined || kept.at(-1) === version) return;
    if (kept.length > 0 && version % pool.every !== 0) return;
    const all = [...kept, version];
    for (const old of all.slice(0, -pool.keep)) await engine.releaseModel(pastModel(policy, old));
    await engine.createModel(pastOptions(policy, version));
    this.#kept[policy] = all.slice(-pool.keep);
  }
}
