import type { Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { encodeGroups } from "../../src/encoded-groups.ts";
import { StoreDatabase } from "../../src/store-database.ts";
import type { StorePlace } from "../../src/store-place.ts";
import { cohort, playedGroups, record } from "./episodes.ts";

// Tests of other kinds of databases compare with a file.
export { runQuery as runFileQuery } from "../../src/run-query.ts";
export type { StoreDatabase as FilledStore } from "../../src/store-database.ts";

const LEARNER = "0/policy";

/**
 * Opens a store with episodes of every state. Step 1 is learnt from without its second group, step 2 was played anew, step 3 is not taken, step 4 is not
 * complete. The caller closes it.
 */
export function filledStore(place: StorePlace, run: string): StoreDatabase {
  let now = 1_000_000;
  const store = new StoreDatabase({ ...place, run, purpose: "train", endsLeases: true }, () => now);
  play(store, 1, 7);
  take(store, 1);
  store.refuse(LEARNER, { step: 1, refill: 0 }, ["0/policy/1/0/0/g1"]);
  const credit = { trajectory: "0/policy/1/0/0/g0/0", agent: "agent", advantage: Float32Array.of(1, 2, 3) };
  store.settle(LEARNER, 1, [credit], true);
  play(store, 2, 7);
  take(store, 2);
  store.abandon(LEARNER, 2);
  play(store, 2, 8);
  take(store, 2);
  take(store, 2);
  play(store, 3, 9);
  store.open(cohort(LEARNER, 4));
  now += 1_000;
  const [lease] = store.lease("worker", 1, 1000);
  if (lease === undefined) throw new Error("nothing to lease");
  store.commit(lease, encodeGroups(playedGroups(lease.cohort, 1).slice(0, 1)), false);
  const about = {
    purpose: "eval",
    stage: "evaluation/greedy",
    place: 0,
    environment: "game@1",
    checksum: null,
  } as const;
  const evaluated = playedGroups(cohort("eval", 1, 0, { groups: 1 }), 1);
  store.record({ ...about, runStep: 2, versions: { policy: 2 } }, encodeGroups(evaluated));
  const seconds = { total: 2 };
  const metrics = { "reward/mean": 0.5 };
  store.mirror([{ kind: "iteration", stage: "stage", step: 1, iteration: 1, metrics, seconds }]);
  store.join({ id: "worker", kind: "rollouts", capabilities: { concurrency: 4 } });
  return store;
}

/** Adds episodes with texts and numbers that JSON, SQLite and Postgres write differently, failures, and parts without a score. */
export function addUnusual(store: StoreDatabase): void {
  const groups = playedGroups(cohort("unusual", 5, 0, { groups: 2, size: 3 }), 3).map(unusual);
  const about = { purpose: "collect", stage: "stage", place: 0, environment: "game@1", checksum: null } as const;
  store.record({ ...about, runStep: 5, versions: {} }, encodeGroups(groups));
  const nested = { list: [1, { deep: 2.5 }, null], "": 3, a1: true, "1a": 4, "\u0000": 5, text: "6" };
  store.mirror([{ kind: "evaluation", step: 5, greedy: { "game@1": nested }, large: 1e21, small: 1e-9 }]);
}

/** Text with NUL, the mark of the store in Postgres, and what looks like an escape. */
export const HOSTILE = 'a\u0000b\u0001\u00010000 \\u0000 \\\\u0001 😀 "quoted" %';

/** Half of a pair: SQLite returns it as it is in JSON alone. */
export const HALF = "\ud800";

function unusual({ trajectories, ...group }: TrajectoryGroup): TrajectoryGroup {
  const changed = trajectories.map((episode): Trajectory => {
    const { member, turns } = episode;
    const agent = episode.agents["agent"] as Trajectory["agents"][string];
    if (member === 0)
      return {
        ...episode,
        agents: {},
        turns: [],
        error: { code: "SESSION_FAILED", message: HOSTILE },
        info: { [HOSTILE]: HOSTILE, half: HALF },
      };
    const total =
      member === 1
        ? { scored: false as const, code: "SCORER_FAILED", message: HOSTILE }
        : { scored: true as const, value: -0, components: { [HOSTILE]: -0, correct: 0.1 + 0.2 } };
    return {
      ...episode,
      turns: turns.map((turn) => ({
        ...turn,
        response: {
          role: "assistant",
          parts: [
            { type: "text", text: HOSTILE },
            { type: "text", text: "." },
          ],
        },
        rewards: { agent: total },
      })),
      agents: { agent: { ...agent, total, shared: { rule: "mean", value: -0 } as never } },
    };
  });
  return { ...group, trajectories: changed };
}

function play(store: StoreDatabase, step: number, salt: number): void {
  store.open(cohort(LEARNER, step));
  const [lease] = store.lease("worker", 1, 1000);
  if (lease === undefined) throw new Error("nothing to lease");
  store.commit(lease, encodeGroups(playedGroups(lease.cohort, salt)), true);
}

function take(store: StoreDatabase, step: number): void {
  const rule = { from: "cohorts", checksum: `sum-${step}` } as const;
  const batch = store.take(LEARNER, { step, refill: 0 }, 2, rule, record(step));
  if (typeof batch === "string") throw new Error(batch);
}
