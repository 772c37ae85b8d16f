import { expect, test } from "@jest/globals";
import type { EpisodeStore, Lease, TakenBatch, TakeRule } from "@mrlm/spec/host";
import { MrlmError, type TrajectoryGroup } from "@mrlm/spec";
import fc from "fast-check";
import { cohort, playedGroups, record } from "../support/episodes.ts";
import { StoreModel } from "./model.ts";
import type { StoreHarness, StorePlace } from "./store-place.ts";

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
  from: fc.constantFrom("cohorts" as const, "opened" as const, "oldest" as const),
  isOther: fc.integer({ max: 9, min: 0 }).map((value) => value === 0),
});

const taking = { learner, step, refill, count: fc.integer({ min: 1, max: 2 }), rule };

/** Milliseconds of a unit of time in an operation: the clock of a server also advances by itself. */
const MS = 100_000;

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
      take: fc.option(fc.record(taking), { nil: undefined }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant("take" as const), ...taking }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("refuse" as const), learner, step, refill, index: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("abandon" as const), learner, step }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash" as const) }) },
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;
type Taking = Omit<Extract<Operation, { readonly kind: "take" }>, "kind">;

/** Runs random sequences of operations on a store and on its model, with crashes between them, and compares every result. */
export function checkInterleavings(harness: StoreHarness, { seed, runs }: { seed: number; runs: number }): void {
  test(`${runs} interleavings of leases, commits, takes, refusals and crashes agree with the model`, async () => {
    const operations = fc.array(operation, { minLength: 20, maxLength: 80, size: "max" });
    await fc.assert(
      fc.asyncProperty(operations, async (all) => {
        const place = await harness.place();
        try {
          const bench = await Bench.open(place);
          for (const each of all) await bench.apply(each);
        } finally {
          await place.dispose();
        }
      }),
      { seed, numRuns: runs },
    );
  }, 600_000);
}

/** A store beside its model. A second process takes, and so reads every group. */
class Bench {
  readonly #place: StorePlace;
  readonly #model = new StoreModel();
  #store: EpisodeStore;
  #taker: EpisodeStore;
  #now = 0;
  #leases: Lease[] = [];

  private constructor(place: StorePlace, store: EpisodeStore, taker: EpisodeStore) {
    this.#place = place;
    this.#store = store;
    this.#taker = taker;
  }

  static async open(place: StorePlace): Promise<Bench> {
    return new Bench(place, await place.open(), await place.open({ endsLeases: false }));
  }

  async apply(operation: Operation): Promise<void> {
    const store = this.#store;
    const model = this.#model;
    if (operation.kind === "open") {
      const { learner, step, refill, part, groups } = operation;
      const opened = cohort(learner, step, refill, { part, groups });
      expect(await attempt(() => store.open(opened))).toEqual(model.open(opened));
    } else if (operation.kind === "lease") {
      const { worker, limit, ttlMs } = operation;
      const leases = await store.lease(worker, limit, ttlMs * MS);
      this.#leases.push(...leases);
      const found = leases.map((lease) => ({ id: lease.cohort.id, attempt: lease.attempt }));
      expect(found).toEqual(model.lease(worker, limit, this.#now, ttlMs * MS));
    } else if (operation.kind === "renew") {
      const lease = this.#pick(operation.index);
      if (lease === undefined) return;
      const lost = model.renew(lease, this.#now + 30 * MS) ? [] : [lease.cohort.id];
      expect(await store.renew([lease], 30 * MS)).toEqual(lost);
    } else if (operation.kind === "commit") {
      const lease = this.#pick(operation.index);
      if (lease === undefined) return;
      const groups = playedGroups(lease.cohort, lease.attempt);
      // The first member alone shows nothing, and a later lease leaves nothing of it.
      const { play, take } = operation;
      if (play !== "whole")
        expect(await store.commit(lease, firstMember(groups), { isLast: false })).toEqual(model.commit(lease, false));
      if (play !== "begun") await this.#commit(lease, groups, take);
    } else if (operation.kind === "take") {
      const batch = await attempt(() => this.#taker.take(...argumentsOf(operation)));
      this.#compare(batch, operation);
    } else if (operation.kind === "refuse") {
      const { learner, step, refill, index } = operation;
      const batch = model.batches.find((each) => each.learner === learner && !each.isAbandoned);
      const group = batch?.groups[index % batch.groups.length] ?? "none";
      const at = { step, refill };
      expect(await attempt(() => store.refuse(learner, at, [group]))).toEqual(model.refuse(learner, at, group));
    } else if (operation.kind === "abandon") {
      await store.abandon(operation.learner, operation.step);
      model.abandon(operation.learner, operation.step);
    } else if (operation.kind === "wait") {
      this.#place.advance(operation.ms * MS);
      this.#now += operation.ms * MS;
    } else {
      await this.#place.crash();
      this.#model.restart();
      this.#store = await this.#place.open();
      this.#taker = await this.#place.open({ endsLeases: false });
    }
  }

  /** Makes the last commit of a lease, and with it a take. */
  async #commit(lease: Lease, groups: readonly TrajectoryGroup[], taking: Taking | undefined): Promise<void> {
    const take = taking && argumentsOf(taking);
    const result = await attempt(() => this.#store.commit(lease, groups, { isLast: true, ...(take && { take }) }));
    const expected = this.#model.commit(lease, true);
    if (taking === undefined || expected === "late") expect(result).toEqual(expected);
    else this.#compare(result === "accepted" ? "unready" : result, taking, true);
  }

  #compare(batch: TakenBatch | string, taking: Taking, isCommit = false): void {
    const [learner, at, count, wanted] = argumentsOf(taking);
    const taken = this.#model.take(learner, at, count, wanted);
    const expected = isCommit && taken === "outdated" ? "unready" : taken;
    if (typeof batch === "string") return expect(batch).toEqual(expected);
    expect(batch.groups.map(({ id }) => id)).toEqual(expected);
    expect(batch.refused).toEqual(this.#model.refusedOf(learner, at));
    for (const group of batch.groups) {
      const play = this.#model.playOf(group.id);
      if (play === undefined) throw new Error(`group ${group.id} was taken but never committed`);
      expect(group).toEqual(playedGroups(play.cohort, play.attempt).find(({ id }) => id === group.id));
    }
  }

  #pick(index: number): Lease | undefined {
    return this.#leases.at(-1 - (index % 4));
  }
}

function argumentsOf({ learner, step, refill, count, rule }: Taking): Parameters<EpisodeStore["take"]> {
  const wanted: TakeRule = { from: rule.from, checksum: rule.isOther ? null : `sum-${step}` };
  return [learner, { step, refill }, count, wanted, record(step)];
}

function firstMember([first]: readonly TrajectoryGroup[]): TrajectoryGroup[] {
  return first === undefined ? [] : [{ ...first, trajectories: first.trajectories.slice(0, 1) }];
}

async function attempt<T>(work: () => Promise<T>): Promise<T | "conflict"> {
  try {
    return await work();
  } catch (error) {
    if (MrlmError.hasCode(error, "STORE_CONFLICT")) return "conflict";
    throw error;
  }
}
