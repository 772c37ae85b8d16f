// npm run test:faults -- rollout-workers: rollout workers that are killed or stopped for longer than a lease, beside a pipelined run of the real engine.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { renameSync } from "node:fs";
import { join } from "node:path";
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
const KILLS = Number(process.env["WORKER_KILLS"] ?? 20);
const STEPS = 240;
/** Longer than a lease. */
const STOPPED_MS = 20_000;

const counts = { kills: 0, stops: 0, played: 0 };
afterAll(() => {
  process.stderr.write(
    `${counts.kills} workers killed, ${counts.stops} stopped for ${STOPPED_MS / 1000} s; ${counts.played} cohorts played by the one that was stopped; FAULTS_SEED=${SEED}\n`,
  );
});

/** Episodes are read in the order in which they were committed, which follows from the speed of the workers. */
function byId({ episodes, ...rest }: Outcome): Outcome {
  const idOf = (episode: unknown): string => (episode as { readonly id: string }).id;
  return { ...rest, episodes: episodes.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)) };
}

describeWithEngine("rollout workers of a pipelined run (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const model = join(directory, "model");
  const random = randomStream("workers", SEED);

  beforeAll(async () => {
    const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
    renameSync(join(warm.directory, "model"), model);
  }, 600_000);

  test(`${KILLS} kills and a stop for longer than a lease: the run has the bits of an undisturbed one`, async () => {
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
    const { finished } = training;
    const worker = (): Mrlm => new Mrlm(["play", "--json", "--run", run]);
    const slow = worker();
    await slow.event(({ event }) => event === "playing");
    slow.child.kill("SIGSTOP");
    counts.stops++;
    const stopped = sleep(STOPPED_MS).then(() => slow.child.kill("SIGCONT"));
    while (training.child.exitCode === null && counts.kills < KILLS) {
      const one = worker();
      await Promise.race([one.event(({ event }) => event === "playing"), one.finished, finished]);
      await sleep(random.integer(0, 400));
      if (one.child.kill("SIGKILL")) counts.kills++;
      await one.finished;
    }
    expect(await finished).toMatchObject({ code: 0 });
    await stopped;
    const { code, events } = await slow.finished;
    expect(code).toBe(0);
    counts.played += Number(events.find(({ event }) => event === "played")?.["cohorts"]);
    expect(byId(outcomeOf(run))).toEqual(byId(undisturbed.outcome));
    expect(counts.kills).toBeGreaterThan(0);
  }, 1_200_000);
});
