// npm run test:faults -- replay: undisturbed and killed runs of the bigram engine, replayed from every checkpoint.
import { afterAll, expect, test } from "@jest/globals";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import { AHEAD, filesOf, replay, RUNS } from "./support/replays.ts";

const counts = { runs: 0, killed: 0, replays: 0, mismatches: 0, steps: 0, equal: 0 };

afterAll(() => {
  process.stderr.write(
    `replay_steps ${counts.steps}, replay_mismatches ${counts.mismatches} in ${counts.replays} replays of ${counts.runs} runs (${counts.killed} killed): ${counts.equal} checksums are equal\n`,
  );
});

/** Replays a run from its start and from each checkpoint that has later steps. */
async function replayAll(directory: string): Promise<void> {
  const before = filesOf(directory);
  const names = readdirSync(join(directory, "checkpoints")).toSorted();
  const end = Math.max(...names.map((name) => Number.parseInt(name, 10)));
  for (const from of ["start", ...names.filter((name) => Number.parseInt(name, 10) < end)]) {
    const result = await replay(directory, from).catch((error: unknown) => {
      if (MrlmError.hasCode(error, "REPLAY_DIFFERS")) counts.mismatches++;
      throw error;
    });
    expect([from, result]).toMatchObject([from, { last: end, missed: 0, unrecorded: 0, unfinished: undefined }]);
    counts.replays++;
    counts.steps += result.steps;
    counts.equal += result.equal;
  }
  expect(filesOf(directory)).toEqual(before);
  counts.runs++;
}

const KILLS = [2, 5, 9, 14] as const;

test.each(Object.entries({ ...RUNS, ...AHEAD }))(
  "%s: undisturbed, and killed at four optimizer steps",
  async (_name, run) => {
    await replayAll((await trainBigram(run)).summary.directory);
    for (const dieAt of KILLS) {
      const { summary } = await trainBigramInterrupted(run, dieAt).catch((error: Error) => {
        // A run of fewer optimizer steps is not killed.
        if (error.message.includes("did not die")) return { summary: undefined };
        throw error;
      });
      if (summary === undefined) continue;
      counts.killed++;
      await replayAll(summary.directory);
    }
    expect(counts.killed).toBeGreaterThan(0);
  },
  300_000,
);
