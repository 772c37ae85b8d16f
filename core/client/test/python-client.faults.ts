import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { playByPython, python } from "./support/python-play.ts";
import { ServerProcess } from "./support/server-process.ts";

// FAULTS_SEED repeats a run.
const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${seed}`);

let server: ServerProcess;
beforeAll(async () => void (server = await ServerProcess.start()));
afterAll(() => server.kill());

const describeWithPython = python === undefined ? describe.skip : describe;

describeWithPython("mrlm-client (skipped where `npm run setup` has not run)", () => {
  test.each(["sync", "async"] as const)(
    "200 steps and 40 resets that lose their connection are carried out once (%s)",
    async (mode) => {
      const { midStep, midReset, disturbed, undisturbed } = await playByPython(server.port, {
        seed,
        mode,
        midStep: 200,
        midReset: 40,
      });
      expect(disturbed).toEqual(undisturbed);
      expect(midStep).toBeGreaterThanOrEqual(200);
      expect(midReset).toBeGreaterThanOrEqual(40);
    },
    600_000,
  );
});
