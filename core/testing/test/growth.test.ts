import { expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import { growthOf } from "../src/checks/leak-checks.ts";

const WINDOWS = Array.from({ length: 9 }, (_, i) => 150 * (i + 1));
const NOISE = 10_000;

/** Returns measurements with noise, and an outlier of 4 MiB. */
function measured(seed: number, bytesAfter: (episodes: number) => number) {
  const random = randomStream("growth", seed);
  const outlier = random.integer(0, WINDOWS.length - 1);
  return WINDOWS.map((episodes, i) => {
    const more = random.integer(-NOISE, NOISE) + (i === outlier ? 2 ** 22 : 0);
    return { episodes, bytes: 5e7 + bytesAfter(episodes) + more };
  });
}

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

test("a leak of 600 bytes an episode is found beside noise and an outlier, and its size is about right", () => {
  for (const seed of SEEDS) {
    const grown = growthOf(measured(seed, (episodes) => 600 * episodes));
    expect((grown?.bytes ?? 0) / (grown?.episodes ?? 1)).toBeGreaterThan(560);
    expect((grown?.bytes ?? 0) / (grown?.episodes ?? 1)).toBeLessThan(640);
  }
});

test.each([
  ["noise", () => 0],
  ["a cache that fills in the first half", (episodes: number) => 2_000 * Math.min(episodes, 700)],
  ["a cache that approaches its size", (episodes: number) => 2 ** 20 * (1 - Math.exp(-episodes / 300))],
  ["memory that is released", (episodes: number) => -400 * episodes],
])("%s is no leak", (_name, bytesAfter) => {
  for (const seed of SEEDS) expect(growthOf(measured(seed, bytesAfter))).toBeUndefined();
});

test("few windows of slow episodes show a large leak", () => {
  const slow = [1, 2, 3, 4, 5].map((episodes) => ({ episodes, bytes: 5e7 + 700_000 * episodes }));
  expect(growthOf(slow)).toEqual({ episodes: 4, bytes: 2_800_000 });
});
