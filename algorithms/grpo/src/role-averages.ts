import type { JsonObject } from "@mrlm/kit/learning";

/** Rewards of the episodes of one role in one group. */
export interface RoleRewards {
  /** Environment and role. */
  readonly key: string;
  readonly rewards: readonly number[];
}

/**
 * Moving averages of the rewards of each role in each environment, the baselines of self-play (role-conditioned advantage estimation, arXiv 2506.24119):
 *
 *     b = m / (1 - decay^n)     m <- decay m + (1 - decay) mean(r)     after batch n
 *
 * Unlike the paper, which starts at b = 0 and updates by episode, the average is divided by the sum of its weights (arXiv 1412.6980) and moves once per
 * batch, so that it depends on no order. Before the first batch b is 0.
 */
export class RoleAverages {
  readonly #decay: number;
  #averages = new Map<string, { readonly moving: number; readonly weight: number }>();

  constructor(decay: number) {
    this.#decay = decay;
  }

  /** Returns the baseline of a role: an average of earlier batches alone. */
  of(key: string): number {
    const { moving, weight } = this.#averages.get(key) ?? { moving: 0, weight: 1 };
    return moving / weight;
  }

  /** Adds a batch. */
  update(batch: readonly RoleRewards[]): void {
    for (const [key, roles] of Map.groupBy(batch, (each) => each.key)) {
      const rewards = roles.flatMap((each) => each.rewards);
      if (rewards.length === 0) continue;
      const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      const { moving, weight } = this.#averages.get(key) ?? { moving: 0, weight: 0 };
      const next = (before: number, now: number): number => this.#decay * before + (1 - this.#decay) * now;
      this.#averages.set(key, { moving: next(moving, mean), weight: next(weight, 1) });
    }
  }

  state(): JsonObject {
    return Object.fromEntries([...this.#averages].map(([key, { moving, weight }]) => [key, [moving, weight]]));
  }

  restore(state: JsonObject): void {
    const entries = Object.entries(state as Record<string, [number, number]>);
    this.#averages = new Map(entries.map(([key, [moving, weight]]) => [key, { moving, weight }]));
  }
}
