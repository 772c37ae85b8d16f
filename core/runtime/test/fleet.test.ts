import { expect, test } from "@jest/globals";
import { simulateFleet } from "./support/fleet.ts";

test("a fleet in virtual time: each group is learnt from once, refused by the algorithm or waits; none is starved or too old; refused groups give back their capacity", async () => {
  const outcome = await simulateFleet({
    seed: 0,
    takes: 50,
    groups: 4,
    groupSize: 2,
    lag: 3,
    atOnce: 1,
    leaseMs: 3_000,
    lifeMs: { training: 15_000, worker: 20_000 },
  });
  expect(outcome.faults).toEqual([]);
  expect(outcome.oldest).toBe(3);
  expect(outcome.tooOld).toBe(0);
  const { trainings, deaths, lost, late, refused } = outcome;
  for (const count of [trainings - 1, deaths, lost, late, refused]) expect(count).toBeGreaterThan(0);
});
