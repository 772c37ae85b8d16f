import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import type { EpisodePlan } from "./episode-plan.ts";

/** Queue that collects episodes by group id and yields each group when it is complete. */
export class GroupQueue {
  readonly #isOrdered: boolean;
  readonly #order: readonly string[];
  readonly #plans = new Map<string, EpisodePlan>();
  readonly #sizes = new Map<string, number>();
  readonly #members = new Map<string, Trajectory[]>();
  readonly #ready = new Map<string, TrajectoryGroup>();
  #yielded = 0;
  #failure: { readonly error: unknown } | undefined;
  #hasEnded = false;
  #news = Promise.withResolvers<void>();

  /** @param isOrdered yield groups in the order of their tasks instead of the order of completion */
  constructor(plans: readonly EpisodePlan[], isOrdered: boolean) {
    this.#isOrdered = isOrdered;
    this.#order = [...new Set(plans.map(({ group }) => group))];
    for (const plan of plans) {
      this.#plans.set(plan.group, plan);
      this.#sizes.set(plan.group, (this.#sizes.get(plan.group) ?? 0) + 1);
    }
  }

  add({ group }: EpisodePlan, trajectory: Trajectory): void {
    const members = [...(this.#members.get(group) ?? []), trajectory];
    this.#members.set(group, members);
    if (members.length < (this.#sizes.get(group) as number)) return;
    this.#members.delete(group);
    const { identity, players } = this.#plans.get(group) as EpisodePlan;
    this.#ready.set(group, {
      id: group,
      task: identity.task,
      players,
      trajectories: members.sort((a, b) => a.member - b.member),
    });
    this.#notify();
  }

  end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#notify();
  }

  async *groups(): AsyncGenerator<TrajectoryGroup, void, undefined> {
    while (this.#yielded < this.#order.length) {
      const id = this.#isOrdered ? this.#order[this.#yielded] : this.#ready.keys().next().value;
      const group = id === undefined ? undefined : this.#ready.get(id);
      if (group !== undefined) {
        this.#ready.delete(group.id);
        this.#yielded++;
        yield group;
      } else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#hasEnded) return;
      else await this.#news.promise;
    }
  }

  #notify(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers<void>();
  }
}
