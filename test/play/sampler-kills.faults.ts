// npm run test:faults -- sampler-kills: samplers that are killed or stopped beside a pipelined run of the real engine.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomStream } from "@mrlm/kit";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { isAlive, Mrlm } from "../e2e/support/mrlm.ts";
import { type Outcome, outcomeOf } from "../e2e/support/outcome.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { TINY, writeConfig } from "../e2e/support/tiny-run.ts";
import { begin, directoryIn, leaveAlone } from "../resume/support/kill-often.ts";
import { grpoAhead, WARM } from "../resume/support/scenarios.ts";

const SEED = Number(process.env["FAULTS_SEED"] ?? 0);
const KILLS = Number(process.env["SAMPLER_KILLS"] ?? 12);
const STEPS = 400;
/** Longer than the pings that find a stopped process. */
const STOPPED_MS = 25_000;

const counts = { kills: 0, stops: 0, joined: 0 };
afterAll(() => {
  process.stderr.write(
    `${counts.kills} samplers killed, ${counts.stops} stopped for ${STOPPED_MS / 1000} s, ${counts.joined} joined; FAULTS_SEED=${SEED}\n`,
  );
});

/** Episodes are read in the order in which they were committed, which follows from the speed of the samplers. */
function byId({ episodes, ...rest }: Outcome): Outcome {
  const idOf = (episode: unknown): string => (episode as { readonly id: string }).id;
  return { ...rest, episodes: episodes.toSorted((one, other) => (idOf(one) < idOf(other) ? -1 : 1)) };
}

describeWithEngine("samplers of a pipelined run (skipped where `npm run setup` has not run)", () => {
  const directory = temporaryDirectory();
  const model = join(directory, "model");
  const random = randomStream("samplers", SEED);

  beforeAll(async () => {
    const warm = await leaveAlone(writeConfig(directory, WARM, "warm.yaml"), join(directory, "warm"));
    renameSync(join(warm.directory, "model"), model);
  }, 600_000);

  test(`${KILLS} kills and a stop: the run has the bits of an undisturbed one without samplers`, async () => {
    const { config } = grpoAhead(model, STEPS);
    const kept = { ...config, store: { keep_tokens: STEPS } };
    const undisturbed = await leaveAlone(writeConfig(directory, kept, "alone.yaml"), join(directory, "alone"));
    const output = join(directory, "disturbed");
    const training = begin(
      writeConfig(directory, { ...kept, engine: { ...TINY.engine, samplers: 2 } }, "disturbed.yaml"),
      output,
      0,
    );
    await training.event(({ event }) => event === "start");
    const run = directoryIn(output) as string;
    const stopped = stopOne(training);
    const killing = killOwn(training);
    while (training.child.exitCode === null && counts.kills < KILLS) {
      const guest = new Mrlm(["sample", "--json", "--run", run, "--name", `guest-${counts.joined++}`]);
      const { pid } = await guest.event(({ event }) => event === "sampling");
      await sleep(random.integer(0, 1_000));
      if (isAlive(pid as number) && process.kill(pid as number, "SIGKILL")) counts.kills++;
      await guest.finished;
    }
    expect(await training.finished).toMatchObject({ code: 0 });
    await Promise.all([stopped, killing]);
    expect(byId(outcomeOf(run))).toEqual(byId(undisturbed.outcome));
    expect(counts.kills).toBeGreaterThan(0);
  }, 1_800_000);

  /** Kills the newest sampler of the training process until there have been enough kills. */
  async function killOwn(training: Mrlm): Promise<void> {
    while (training.child.exitCode === null && counts.kills < KILLS) {
      await sleep(random.integer(0, 2_000));
      const pid = training.pids("sampler").at(-1);
      if (pid !== undefined && isAlive(pid) && process.kill(pid, "SIGKILL")) counts.kills++;
    }
  }

  /** Stops the first sampler of the training process for a while, and lets it continue. */
  async function stopOne(training: Mrlm): Promise<void> {
    const [pid] = training.pids("sampler");
    if (pid === undefined || !isAlive(pid)) return;
    process.kill(pid, "SIGSTOP");
    counts.stops++;
    await sleep(STOPPED_MS);
    if (isAlive(pid)) process.kill(pid, "SIGCONT");
  }
});
