import { rmSync } from "node:fs";
import { afterAll, expect, test } from "@jest/globals";
import { lethalProject, writeVersion } from "./support/lethal-project.ts";
import { act, begin, workerServer } from "./support/worker-server.ts";

const directory = lethalProject();
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a session that ends its worker fails by plugin, version and cause; the others are restored by the next worker, which is replaced without a loss", async () => {
  const server = await workerServer(directory);
  try {
    const [calm, lethal] = [await begin(server.host, "calm"), await begin(server.host, "lethal")];
    expect([await act(calm), await act(lethal)]).toEqual(["step 0", "step 0"]);
    // 100 MB of output are read, cut and counted.
    expect([await act(lethal, "print"), await act(calm)]).toEqual(["step 1", "step 1"]);
    expect(server.lines.join("").length).toBeLessThan(200_000);
    const waits = act(calm, "forever");
    expect(await act(lethal, "throw")).toMatch(
      /^ENVIRONMENT_FAILED: Environment lethal@1 \(plugin lethal 1\.2\.3\) ended its worker process with exit code 1 \(uncaughtException: Error: thrown later\) in its step phase\.$/,
    );
    expect(await waits).toMatch(/^SESSION_NOT_FOUND: The session's worker process ended with exit code 1/);
    const restored = await begin(server.host, "calm");
    expect([await act(restored), server.workers.restarts]).toEqual(["step 0", 1]);
    expect(server.lines.some((line) => /^worker 1: .*thrown later/.test(line))).toBe(true);
    // A new version takes the new sessions; the session before continues.
    writeVersion(directory, { version: "2.0.0", word: "new" });
    await server.workers.reload(10_000);
    expect([await act(restored), await act(await begin(server.host, "calm"))]).toEqual(["step 1", "new 0"]);
  } finally {
    await server.close();
  }
});

test("a plugin whose import never returns is reported, and leaves no process behind", async () => {
  const folder = lethalProject({ before: "await new Promise(() => setInterval(() => undefined, 1000));" });
  try {
    await expect(workerServer(folder, { startMs: 2_000 })).rejects.toMatchObject({
      code: "SERVER_UNAVAILABLE",
      message: expect.stringMatching(/^worker 1 could not be started: it was not ready after 2 s/),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("R21: steps that work for long fail no session beside them, and delay none of another worker", async () => {
  writeVersion(directory, { version: "2.0.0", word: "new" });
  const server = await workerServer(directory, { count: 2 });
  try {
    // A session goes to the worker with the fewest: the busy one has a calm one beside it.
    const [busy, apart, beside] = [
      await begin(server.host, "lethal"),
      await begin(server.host, "calm"),
      await begin(server.host, "calm"),
    ];
    const work = new AbortController();
    const stepsOf = async (session: typeof apart): Promise<number> => {
      let step = 0;
      for (; !work.signal.aborted; step++) expect(await act(session)).toBe(`new ${step}`);
      return step;
    };
    const calm = Promise.all([stepsOf(apart), stepsOf(beside)]);
    for (let step = 0; step < 3; step++) expect(await act(busy, "busy")).toBe(`step ${step}`);
    work.abort();
    const [far, near] = await calm;
    expect(far).toBeGreaterThan(10 * near);
    expect(server.workers.restarts).toBe(0);
  } finally {
    await server.close();
  }
});
