// npm run test:faults -- fleet: asynchronous runs of at least 10,000 episodes, in virtual time.
import { expect, test } from "@jest/globals";
import { simulateFleet } from "./support/fleet.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const SHAPE = {
  takes: 280,
  groups: 8,
  groupSize: 4,
  lag: 4,
  atOnce: 4,
  leaseMs: 15_000,
  lifeMs: { training: 60_000, worker: 40_000 },
};

test.each(Array.from({ length: 5 }, (_, i) => SEED + i))(
  "seed %i: each group is learnt from once, refused by the algorithm or waits; none is starved or too old; refused groups give back their capacity",
  async (seed) => {
    const outcome = await simulateFleet({ seed, ...SHAPE });
    process.stderr.write(`seed ${seed}: ${JSON.stringify(outcome)}\n`);
    expect(outcome.faults).toEqual([]);
    expect(outcome.episodes).toBeGreaterThanOrEqual(10_000);
    expect(outcome.oldest).toBe(SHAPE.lag);
    expect(outcome.tooOld).toBe(0);
    const { trainings, deaths, lost, late, refused } = outcome;
    for (const count of [trainings - 1, deaths, lost, late, refused]) expect(count).toBeGreaterThan(0);
  },
  600_000,
);
