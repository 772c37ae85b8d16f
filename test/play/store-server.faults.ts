// npm run test:faults -- store-server: a store server that is killed, and stopped for a minute, between a pipelined run of the real engine and a remote rollout worker.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { randomStream } from "@mrlm/kit";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm } from "../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { begin, directoryIn, leaveAlone } from "../resume/support/kill-often.ts";
import { grpoAhead, WARM } from "../resume/support/scenarios.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const KILLS = Number(process.env["SERVER_KILLS"] ?? 20);
const STEPS = Number(process.env["SERVER_STEPS"] ?? 600);
const STOPPED_MS = 60_000;

const counts = { kills: 0, stops: 0, played: 0 };
afterAll(() => {
  process.stderr.write(
    `store server: ${counts.kills} kills, ${counts.stops} stops of ${STOPPED_MS / 1000} s; ${counts.played} cohorts played remotely; FAULTS_SEED=${SEED}\n`,
  );
});

/** Episodes are read in the order in which they were committed, which follows from the speed of the workers. */
function byId({ episodes, ...rest }: Outcome): Outcome {
  const idOf = (episode: unknown): string => (episode as { readonly id: string }).id;
  return { ...rest, episodes: episodes.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)) };
}

/** Ids of groups that are in several batches. */
function groupsTakenTwice(run: string): unknown[] {
  const database = new DatabaseSync(join(run, "episodes.sqlite"), { readOnly: true });
  try {
    const taken = "batches JOIN groups ON groups.key = batches.group_key WHERE is_abandoned = 0";
    return database.prepare(`SELECT groups.id AS id FROM ${taken} GROUP BY groups.id HAVING COUNT(*) > 1`).all();
  } finally {
    database.close();
  }
}

describeWithEngine("a store server beside a pipelined run (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const model = join(directory, "model");
  const token = join(directory, "token");
  const random = randomStream("store server", SEED);

  beforeAll(async () => {
    writeFileSync(token, "a-token-of-the-store-server\n", { mode: 0o600 });
    const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
    renameSync(join(warm.directory, "model"), model);
  }, 600_000);

  test(`${KILLS} kills and a stop of a minute: the run has the bits of an undisturbed one`, async () => {
    const config = writeConfig(
      directory,
      { ...grpoAhead(model, STEPS).config, store: { keep_tokens: STEPS } },
      "ahead.yaml",
    );
    const undisturbed = await leaveAlone(config, join(directory, "alone"));
    const output = join(directory, "disturbed");
    const training = begin(config, output, 0);
    await training.event(({ event }) => event === "start");
    const run = directoryIn(output) as string;

    const serve = async (port = "0"): Promise<{ readonly mrlm: Mrlm; readonly address: string }> => {
      const mrlm = new Mrlm(["store", "serve", "--json", "--run", run, "--port", port, "--token-file", token]);
      const { address } = await mrlm.event(({ event }) => event === "listening");
      return { mrlm, address: String(address) };
    };
    let server = await serve();
    const { address } = server;
    const port = address.split(":").at(-1) as string;
    const worker = new Mrlm(["play", "--json", "--store", address, "--token-file", token]);
    await worker.event(({ event }) => event === "playing");

    const stopAfter = Math.floor(KILLS / 2);
    while (training.child.exitCode === null && counts.kills < KILLS) {
      await sleep(random.integer(0, 1_500));
      if (counts.kills === stopAfter && counts.stops === 0) {
        server.mrlm.child.kill("SIGSTOP");
        counts.stops++;
        await sleep(STOPPED_MS);
        server.mrlm.child.kill("SIGCONT");
        await sleep(2_000);
      }
      server.mrlm.child.kill("SIGKILL");
      await server.mrlm.finished;
      counts.kills++;
      server = await serve(port);
    }
    expect(await training.finished).toMatchObject({ code: 0 });
    const { code, events } = await worker.finished;
    expect(code).toBe(0);
    server.mrlm.child.kill("SIGTERM");
    expect(await server.mrlm.finished).toMatchObject({ code: 0 });
    counts.played = Number(events.find(({ event }) => event === "played")?.["cohorts"]);

    expect(byId(outcomeOf(run))).toEqual(byId(undisturbed.outcome));
    expect(groupsTakenTwice(run)).toEqual([]);
    expect(counts.played).toBeGreaterThan(0);
    expect(counts.kills).toBeGreaterThan(0);
  }, 1_800_000);
});
