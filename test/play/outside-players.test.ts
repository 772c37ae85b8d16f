import { beforeAll, expect, test } from "@jest/globals";
import type { BigramOutcome } from "@mrlm/testing";
import { faultsOfRun, trainWithoutFaults } from "./support/outside-run.ts";

let clean: BigramOutcome;
beforeAll(async () => {
  clean = await trainWithoutFaults();
});

test.each(["killed", "no answer", "slow", "rate-limited", "rate-limited for a moment", "HTML"])(
  "an endpoint as the opponent, %s: training continues, each failure is counted with its code, and nothing else changes",
  async (name) => {
    expect(await faultsOfRun(name, 1, clean)).toEqual([]);
  },
);
