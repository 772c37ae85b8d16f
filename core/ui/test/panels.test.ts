import { expect, test } from "@jest/globals";
import { PANELS } from "../src/panels.ts";

const NAMES = [
  "reward/mean",
  "reward/correct",
  "loss/policy",
  "kl/reference",
  "mismatch/max",
  "offpolicy/kl",
  "alice/offpolicy/kl",
  "offpolicy/lag_max",
  "offpolicy/ess",
  "wait/training",
  "buffer/ready",
  "length/cut",
  "seconds/learning",
];

test.each(NAMES)("%s is in one chart", (name) => {
  expect(PANELS.filter(({ pattern }) => pattern.test(name))).toHaveLength(1);
});
