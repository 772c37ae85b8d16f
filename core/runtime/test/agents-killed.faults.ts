import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { randomStream } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { MetricsFile, openRun, trainRun } from "@mrlm/runtime";
import type { TrajectoryGroup } from "@mrlm/spec";
import { BigramEngine } from "@mrlm/testing";
import { ReplayWatch } from "../src/rollouts/replay-watch.ts";
import { processPrograms, countPrograms } from "./support/process-programs.ts";
import { collect, runner } from "./support/rollouts.ts";
import { killServers, startServer } from "./support/server-process.ts";
import { prepare, PROGRAMS_CONFIG, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

// Case l of programs: kill -9 while their processes run.
afterAll(removeTemporaryDirectories);
afterAll(killServers);
const KILLS = 3;
const SERVER = new URL("./support/programs-server.ts", import.meta.url);
const TRAINING = fileURLToPath(new URL("./support/training-programs.ts", import.meta.url));

/** Waits until no program runs: one whose server was killed ends at its next call. */
async function ended(folder: string): Promise<number> {
  for (let waits = 0; waits < 1_200 && countPrograms(folder).running > 0; waits++) await sleep(50);
  return countPrograms(folder).running;
}

/** Returns what does not depend on the clock and on the processes. */
const learnt = (groups: readonly TrajectoryGroup[]): string =>
  JSON.stringify(
    groups.map((group) => group.trajectories.map(({ seconds: _, info: __, ...rest }) => rest)),
    (_, value: unknown) => (ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value),
  );

test(`${KILLS} times kill -9 of the server of programs leave every trajectory as it would have been, and no process`, async () => {
  const folder = temporaryDirectory();
  const seed = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
  console.log(`FAULTS_SEED=${seed}`);
  const random = randomStream("kills", seed);
  let server = await startServer(SERVER, 0, folder);
  // A server starts slowly on a loaded machine.
  const host = await connectEnvironments([`127.0.0.1:${server.port}`], { reconnectMs: 300_000 });
  const replays = new ReplayWatch(silentLogger);
  const played = await runner({ host, replays });
  const changes = { environment: { id: "processes" }, groupSize: 2 };
  const expected = learnt(await collect(played, changes));
  let restored = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const { answers } = countPrograms(folder);
    const collecting = collect(played, changes);
    // The six programs read 18 answers.
    const some = answers + random.integer(1, 12);
    while (countPrograms(folder).answers < some) await sleep(1);
    await server.kill();
    server = await startServer(SERVER, server.port, folder);
    expect(learnt(await collecting)).toBe(expected);
    const { metrics } = replays.addTo({ iteration: 1, metrics: {}, seconds: {} });
    restored += Number(metrics["replays/SESSION_NOT_FOUND"] ?? 0);
  }
  await host.close();
  await server.kill();
  expect(restored).toBeGreaterThan(0);
  expect(await ended(folder)).toBe(0);
}, 600_000);

test("kill -9 of the trainer while programs run, resume, and the rest is bit-identical to an undisturbed run", async () => {
  const folder = temporaryDirectory();
  const child = spawn(
    process.execPath,
    ["--conditions=mrlm-source", "--no-warnings", TRAINING, temporaryDirectory(), folder],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, NODE_OPTIONS: "" } },
  );
  let path = "";
  for await (const line of createInterface({ input: child.stdout })) {
    path = line;
    const { answers } = countPrograms(folder);
    // Programs of the next iteration run.
    while (countPrograms(folder).answers < answers + 2) await sleep(1);
    child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  expect(child.signalCode).toBe("SIGKILL");
  expect(await ended(folder)).toBe(0);
  const { run, checkpoint } = await openRun(dirname(dirname(path)), () => undefined);
  const { prepared, host } = await prepare(PROGRAMS_CONFIG, processPrograms(folder));
  const outcome = async (resumed: object): Promise<unknown> => {
    const { directory } = await trainRun({ prepared, host, engine: new BigramEngine(), ...resumed });
    const last = readdirSync(join(directory, "checkpoints")).sort().at(-1) as string;
    const engine = join(directory, "checkpoints", last, "engine");
    const weights = readdirSync(engine)
      .sort()
      .map((name) => readFileSync(join(engine, name)).toString("base64"));
    const rows = new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row);
    return [weights, rows];
  };
  expect(await outcome(checkpoint === undefined ? { run } : { run, checkpoint })).toEqual(await outcome({}));
  await host.close();
  expect(await ended(folder)).toBe(0);
}, 600_000);
