import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { playByPython, playOverRestart, python } from "./support/python-play.ts";
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

  test("a server that is killed and started again: the episode is over, and the session begins a new one", async () => {
    const { port } = server;
    const found = (await playOverRestart(port, async () => {
      await server.kill();
      server = await ServerProcess.start(port);
    })) as Record<string, unknown>;
    expect(found["codes"]).toEqual(["SESSION_NOT_FOUND", "EPISODE_ENDED"]);
    expect(found["after"]).toEqual(found["before"]);
    expect(found["again"]).toEqual(found["before"]);
  });
});
