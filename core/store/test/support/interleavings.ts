import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Lease, MrlmError, type TakeRule, type TrajectoryGroup } from "@mrlm/spec";
import { expect } from "@jest/globals";
import fc from "fast-check";
import { encodeGroups } from "../../src/encoded-groups.ts";
import { StoreDatabase } from "../../src/store-database.ts";
import { cohort, playedGroups, record } from "./episodes.ts";
import { StoreModel } from "./model.ts";

// Few ids and mostly matching arguments, so that operations meet.
const learner = fc.oneof(
  { weight: 4, arbitrary: fc.constant("0/policy") },
  { weight: 1, arbitrary: fc.constant("0/other") },
);
const step = fc.integer({ min: 1, max: 2 });
const refill = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
const part = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constant(1) });
const worker = fc.constantFrom("a", "b");
const rule = fc.record({
  from: fc.constantFrom("cohorts" as const, "oldest" as const),
  isOther: fc.integer({ max: 9, min: 0 }).map((value) => value === 0),
});

const operation = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("open" as const),
      learner,
      step,
      refill,
      part,
      groups: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("lease" as const),
      worker,
      limit: fc.integer({ min: 1, max: 3 }),
      ttlMs: fc.integer({ min: 1, max: 50 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("renew" as const), index: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("commit" as const),
      index: fc.nat(),
      play: fc.constantFrom("whole" as const, "parts" as const, "begun" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("take" as const),
      learner,
      step,
      refill,
      count: fc.integer({ min: 1, max: 2 }),
      rule,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("refuse" as const), learner, step, refill, index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abandon" as const), learner, step }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Runs random sequences of operations on a store and on its model, with crashes between them, and compares every result. */
export function checkInterleavings(seed: number, runs: number): void {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 20, maxLength: 80, size: "max" }), (operations) => {
      const folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
      const bench = new Bench(join(folder, "episodes.sqlite"));
      try {
        for (const each of operations) bench.apply(each);
      } finally {
        bench.close();
        rmSync(folder, { recursive: true });
      }
    }),
    { seed, numRuns: runs },
  );
}

/** A store beside its model. */
class Bench {
  #path: string;
  readonly #model = new StoreModel();
  #store: StoreDatabase;
  #now = 1_000;
  #leases: Lease[] = [];

  constructor(path: string) {
    this.#path = path;
    this.#store = this.#open();
  }

  close(): void {
    this.#store.close();
  }

  apply(operation: Operation): void {
    const store = this.#store;
    const model = this.#model;
    if (operation.kind === "open") {
      const { learner, step, refill, part, groups } = operation;
      const opened = cohort(learner, step, refill, { part, groups });
      expect(attempt(() => store.open(opened))).toEqual(model.open(opened));
    } else if (operation.kind === "lease") {
      const { worker, limit, ttlMs } = operation;
      const leases = store.lease(worker, limit, ttlMs);
      this.#leases.push(...leases);
      const found = leases.map((lease) => ({ id: lease.cohort.id, attempt: lease.attempt }));
      expect(found).toEqual(model.lease(worker, limit, this.#now, ttlMs));
    } else if (operation.kind === "renew") {
      const lease = this.#pick(operation.index);
      if (lease === undefined) return;
      expect(store.renew([lease], 30)).toEqual(model.renew(lease, this.#now + 30) ? [] : [lease.cohort.id]);
    } else if (operation.kind === "commit") {
      const lease = this.#pick(operation.index);
      if (lease === undefined) return;
      const groups = playedGroups(lease.cohort, lease.attempt);
      // The first member alone shows nothing, and a later lease leaves nothing of it.
      const { play } = operation;
      if (play !== "whole")
        expect(store.commit(lease, encodeGroups(firstMember(groups)), false)).toEqual(model.commit(lease, false));
      if (play !== "begun") expect(store.commit(lease, encodeGroups(groups), true)).toEqual(model.commit(lease, true));
    } else if (operation.kind === "take") {
      this.#take(operation);
    } else if (operation.kind === "refuse") {
      const { learner, step, refill, index } = operation;
      const batch = model.batches.find((each) => each.learner === learner && !each.isAbandoned);
      const group = batch?.groups[index % batch.groups.length] ?? "none";
      const at = { step, refill };
      expect(attempt(() => store.refuse(learner, at, [group]))).toEqual(model.refuse(learner, at, group));
    } else if (operation.kind === "abandon") {
      store.abandon(operation.learner, operation.step);
      model.abandon(operation.learner, operation.step);
    } else if (operation.kind === "wait") this.#now += operation.ms;
    else this.#crash();
  }

  /** Continues with the files as they are now: a process that is killed closes nothing. */
  #crash(): void {
    const next = `${this.#path}.next`;
    for (const end of ["", "-wal"])
      if (existsSync(`${this.#path}${end}`)) copyFileSync(`${this.#path}${end}`, `${next}${end}`);
    this.#store.close();
    this.#path = next;
    this.#model.restart();
    this.#store = this.#open();
  }

  #take({ learner, step, refill, count, rule }: Extract<Operation, { readonly kind: "take" }>): void {
    const at = { step, refill };
    const wanted: TakeRule = { from: rule.from, checksum: rule.isOther ? null : `sum-${step}` };
    const batch = attempt(() => this.#store.take(learner, at, count, wanted, record(step)));
    const expected = this.#model.take(learner, at, count, wanted);
    if (typeof batch === "string") return expect(batch).toEqual(expected);
    expect(batch.groups.map(({ id }) => id)).toEqual(expected);
    expect(batch.refused).toEqual(this.#model.refusedOf(learner, at));
    for (const group of this.#store.read(batch.groups.map(({ key }) => key))) {
      const play = this.#model.playOf(group.id);
      if (play === undefined) throw new Error(`group ${group.id} was taken but never committed`);
      expect(group).toEqual(playedGroups(play.cohort, play.attempt).find(({ id }) => id === group.id));
    }
  }

  #pick(index: number): Lease | undefined {
    return this.#leases.at(-1 - (index % 4));
  }

  #open(): StoreDatabase {
    return new StoreDatabase({ path: this.#path, run: "run", purpose: "train", endsLeases: true }, () => this.#now);
  }
}

function firstMember([first]: readonly TrajectoryGroup[]): TrajectoryGroup[] {
  return first === undefined ? [] : [{ ...first, trajectories: first.trajectories.slice(0, 1) }];
}

function attempt<T>(work: () => T): T | "conflict" {
  try {
    return work();
  } catch (error) {
    if (error instanceof MrlmError && error.code === "STORE_CONFLICT") return "conflict";
    throw error;
  }
}
