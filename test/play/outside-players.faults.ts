import { beforeAll, expect, test } from "@jest/globals";
import type { BigramOutcome } from "@mrlm/testing";
import { ENDPOINT_FAULTS } from "./support/faulty-endpoint.ts";
import { faultsOfRun, trainWithoutFaults } from "./support/outside-run.ts";

const SEEDS = 40;

let clean: BigramOutcome;
beforeAll(async () => {
  clean = await trainWithoutFaults();
});

test.each(Object.keys(ENDPOINT_FAULTS))(
  `${SEEDS} runs against an endpoint: %s`,
  async (name) => {
    const found: string[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) found.push(...(await faultsOfRun(name, seed, clean)));
    expect(found).toEqual([]);
  },
  600_000,
);
