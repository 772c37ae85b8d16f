import { expect, test } from "@jest/globals";
import { PlayedCount } from "../src/console/played-count.ts";
import { recordedConsole } from "./support/console.ts";

test("a rollout worker prints what it has played every 15 seconds, and what it lost", () => {
  let now = 0;
  const { console, err } = recordedConsole();
  const count = new PlayedCount(console, () => now);
  now = 60_000;
  count.begin();
  now += 10_000;
  count.add([{ size: 8 }, { size: 8 }], "accepted");
  expect(err()).toBe("");
  now += 10_000;
  count.add([{ size: 4 }], "accepted");
  expect(err()).toBe("2 cohorts played: 3 groups, 20 episodes, 1.0 episodes/s\n");
  now += 15_000;
  count.add([{ size: 4 }], "late");
  expect(err()).toContain("20 episodes, 1 cohort too late: another process had leased it, 0.0 episodes/s\n");
  expect(count.toJson()).toEqual({ cohorts: 2, groups: 3, episodes: 20, late: 1 });
});
