import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { playByPython, python } from "./support/python-play.ts";
import { ServerProcess } from "./support/server-process.ts";

let server: ServerProcess;
beforeAll(async () => void (server = await ServerProcess.start()));
afterAll(() => server.kill());

const describeWithPython = python === undefined ? describe.skip : describe;

// python-client.faults.ts has the counts.
describeWithPython("mrlm-client (skipped where `npm run setup` has not run)", () => {
  test.each(["sync", "async"] as const)(
    "steps and resets that lose their connection are carried out once (%s)",
    async (mode) => {
      const options = { seed: 1, mode, midStep: 4, midReset: 1 };
      const { midStep, midReset, disturbed, undisturbed } = await playByPython(server.port, options);
      expect(disturbed).toEqual(undisturbed);
      expect(midStep).toBeGreaterThanOrEqual(4);
      expect(midReset).toBeGreaterThanOrEqual(1);
    },
    120_000,
  );
});
