import type { Cohort, Lease, TakePosition, TakeRule } from "@mrlm/spec/host";

interface ModelCohort {
  readonly cohort: Cohort;
  state: "open" | "leased" | "committed" | "abandoned";
  attempt: number;
  worker: string;
  until: number;
}

interface ModelBatch {
  readonly learner: string;
  readonly at: TakePosition;
  readonly count: number;
  readonly rule: TakeRule;
  readonly groups: readonly string[];
  readonly refused: Set<string>;
  isAbandoned: boolean;
}

/** Result that names a refusal instead of throwing. */
export type Outcome<T> = T | "conflict";

/** Reference implementation of the store's rules in memory, without episodes. */
export class StoreModel {
  readonly cohorts: ModelCohort[] = [];
  readonly batches: ModelBatch[] = [];

  open(cohort: Cohort): Outcome<void> {
    const known = this.#live(cohort.id);
    if (known === undefined) {
      // Attempts count on where an abandoned cohort had the id, so that an old lease commits nothing to the new one.
      const attempts = this.cohorts.filter((each) => each.cohort.id === cohort.id).map(({ attempt }) => attempt);
      this.cohorts.push({ cohort, state: "open", attempt: Math.max(0, ...attempts), worker: "", until: 0 });
    } else if (JSON.stringify(known.cohort) !== JSON.stringify(cohort)) return "conflict";
    return undefined;
  }

  lease(
    worker: string,
    limit: number,
    now: number,
    ttlMs: number,
  ): { readonly id: string; readonly attempt: number }[] {
    const free = this.cohorts.filter(({ state, until }) => state === "open" || (state === "leased" && until <= now));
    return free.slice(0, limit).map((each) => {
      Object.assign(each, { state: "leased", attempt: each.attempt + 1, worker, until: now + ttlMs });
      return { id: each.cohort.id, attempt: each.attempt };
    });
  }

  renew(lease: Lease, until: number): boolean {
    const found = this.#live(lease.cohort.id);
    if (found?.state !== "leased" || found.attempt !== lease.attempt || found.worker !== lease.worker) return false;
    found.until = until;
    return true;
  }

  /** Whether a lease may commit; `isLast` makes the cohort visible. */
  commit(lease: Lease, isLast: boolean): "accepted" | "late" {
    const found = this.#live(lease.cohort.id);
    if (found?.attempt !== lease.attempt || found.state === "open") return "late";
    if (isLast) found.state = "committed";
    return "accepted";
  }

  take(
    learner: string,
    at: TakePosition,
    count: number,
    rule: TakeRule,
  ): Outcome<readonly string[] | "unready" | "outdated"> {
    const ofStep = this.batches.filter(
      (each) => !each.isAbandoned && each.learner === learner && each.at.step === at.step,
    );
    if (ofStep.some((each) => each.rule.checksum !== rule.checksum)) return "outdated";
    const known = ofStep.find((each) => each.at.refill === at.refill);
    if (known !== undefined)
      return known.count === count && JSON.stringify(known.rule) === JSON.stringify(rule) ? known.groups : "conflict";
    if (rule.from === "cohorts" && this.#here(learner, at).some(({ cohort }) => cohort.checksum !== rule.checksum))
      return "outdated";
    const groups = this.#candidates(learner, at, count, rule);
    if (groups.length < count) return "unready";
    this.batches.push({ learner, at, count, rule, groups, refused: new Set(), isAbandoned: false });
    return groups;
  }

  refuse(learner: string, at: TakePosition, group: string): Outcome<void> {
    const batch = this.#batch(learner, at);
    if (batch === undefined || !batch.groups.includes(group)) return "conflict";
    batch.refused.add(group);
    return undefined;
  }

  abandon(learner: string, fromStep: number): void {
    for (const batch of this.batches)
      if (batch.learner === learner && batch.at.step >= fromStep) batch.isAbandoned = true;
    const kept = new Set(this.batches.flatMap(({ isAbandoned, groups }) => (isAbandoned ? [] : groups)));
    for (const each of this.cohorts)
      if (each.cohort.learner === learner && each.cohort.step >= fromStep && !isInBatch(each, kept))
        each.state = "abandoned";
  }

  /** The process ended: an opened store abandons what nothing has played. */
  restart(): void {
    for (const each of this.cohorts) if (each.state === "open" || each.state === "leased") each.state = "abandoned";
  }

  /** The committed cohort of a group, with the attempt that played it. */
  playOf(group: string): { readonly cohort: Cohort; readonly attempt: number } | undefined {
    return this.cohorts.find((each) => each.state === "committed" && each.cohort.groups.some(({ id }) => id === group));
  }

  refusedOf(learner: string, at: TakePosition): readonly string[] {
    const batch = this.#batch(learner, at);
    return batch?.groups.filter((group) => batch.refused.has(group)) ?? [];
  }

  #here(learner: string, { step, refill }: TakePosition): ModelCohort[] {
    return this.cohorts.filter(
      ({ cohort, state }) =>
        cohort.learner === learner && cohort.step === step && cohort.refill === refill && state !== "abandoned",
    );
  }

  #candidates(learner: string, at: TakePosition, count: number, rule: TakeRule): string[] {
    const taken = new Set(
      this.batches.flatMap((each) => (each.isAbandoned ? [] : each.groups.map((group) => `${each.learner} ${group}`))),
    );
    const own = this.cohorts.filter(({ cohort, state }) => cohort.learner === learner && state !== "abandoned");
    const here = this.#here(learner, at);
    if (rule.from === "cohorts" && here.some(({ state }) => state !== "committed")) return [];
    const ordered =
      rule.from === "oldest"
        ? own
        : (rule.from === "cohorts" ? here : own).toSorted((one, other) => one.cohort.place[1] - other.cohort.place[1]);
    const groups = ordered
      .filter(({ state }) => rule.from === "opened" || state === "committed")
      .flatMap(({ cohort, state }) => cohort.groups.map(({ id }) => ({ id, state })))
      .filter(({ id }) => !taken.has(`${learner} ${id}`))
      .slice(0, count);
    return groups.every(({ state }) => state === "committed") ? groups.map(({ id }) => id) : [];
  }

  #live(id: string): ModelCohort | undefined {
    return this.cohorts.find((each) => each.cohort.id === id && each.state !== "abandoned");
  }

  #batch(learner: string, at: TakePosition): ModelBatch | undefined {
    return this.batches.find(
      (each) =>
        !each.isAbandoned && each.learner === learner && each.at.step === at.step && each.at.refill === at.refill,
    );
  }
}

function isInBatch({ cohort, state }: ModelCohort, groups: ReadonlySet<string>): boolean {
  return state === "committed" && cohort.groups.some(({ id }) => groups.has(id));
}
