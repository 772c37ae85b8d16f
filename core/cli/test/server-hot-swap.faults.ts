import { rmSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { lethalProject, writeVersion } from "./support/lethal-project.ts";
import { act, begin, workerServer } from "./support/worker-server.ts";

test("ten new versions take the new sessions, and those of the old ones finish; broken versions take none", async () => {
  const directory = lethalProject({ version: "1.0.0", word: "v0" });
  const server = await workerServer(directory, { count: 2 });
  const broken = [
    { before: "throw new Error('broken import');" },
    { before: "process.exit(3);" },
    { apiVersion: 99 },
    { before: "syntax error" },
  ];
  try {
    let sessions = await Promise.all(Array.from({ length: 20 }, () => begin(server.host, "calm")));
    for (let swap = 1; swap <= 10; swap++) {
      writeVersion(directory, { version: `1.0.${swap}`, ...broken[swap % broken.length] });
      await expect(server.workers.reload(10_000)).rejects.toThrow(/plugin|worker/i);
      expect(await act(await begin(server.host, "calm"))).toBe(`v${swap - 1} 0`);
      writeVersion(directory, { version: `1.1.${swap}`, word: `v${swap}` });
      const steps = (async () => {
        const outcomes: string[] = [];
        for (let index = 0; index < 50; index++)
          outcomes.push(...(await Promise.all(sessions.map((session) => act(session, "slow")))));
        return outcomes;
      })();
      await server.workers.reload(10_000);
      const next = await Promise.all(Array.from({ length: 20 }, () => begin(server.host, "calm")));
      expect(new Set(await Promise.all(next.map((session) => act(session))))).toEqual(new Set([`v${swap} 0`]));
      const [described] = (await server.host.list()).filter(({ id }) => id === "calm@1");
      expect(described?.providedBy?.version).toBe(`1.1.${swap}`);
      // No session of the old version loses or repeats a step.
      const first = swap === 1 ? 0 : 1;
      const expected = Array.from({ length: 50 }, (_, index) =>
        Array.from({ length: 20 }, () => `v${swap - 1} ${index + first}`),
      ).flat();
      expect(await steps).toEqual(expected);
      await Promise.all(sessions.map((session) => session.close()));
      sessions = next;
    }
    expect(server.workers.restarts).toBe(0);
  } finally {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}, 300_000);
