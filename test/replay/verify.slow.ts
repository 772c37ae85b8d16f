import { expect, test } from "@jest/globals";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openRecords, type VerifyResult, verifyRun } from "@mrlm/runtime";
import { BigramEngine, RoundingEngine, trainBigram } from "@mrlm/testing";
import { filesOf, RUNS } from "./support/replays.ts";

type VerifyOptions = Parameters<typeof verifyRun>[0];

async function trained(name: string, engine = new BigramEngine()): Promise<string> {
  const run = RUNS[name] as NonNullable<(typeof RUNS)[string]>;
  const output = mkdtempSync(join(tmpdir(), "mrlm-verified-"));
  return (await trainBigram({ ...run, engine, config: { ...run.config, output } })).summary.directory;
}

async function verify(directory: string, options: Partial<VerifyOptions> = {}): Promise<VerifyResult> {
  const records = openRecords(directory);
  try {
    const openEngine = async () => new BigramEngine();
    return await verifyRun({ records, openEngine, sample: 10_000, seed: 0, onNotice: () => undefined, ...options });
  } finally {
    records.log.close();
  }
}

const [FIRST, , POLICIES, PAST] = Object.keys(RUNS) as [string, string, string, string];

test("all segments whose weights have a checkpoint agree, and no file of the run changes", async () => {
  const directory = await trained(POLICIES);
  const before = filesOf(directory);
  const { segments, verifiable, verified, tokens, withoutWeights, largest } = await verify(directory);
  // No checkpoint has the weights of the start: 16 episodes of two policies.
  expect([verifiable, verified, withoutWeights]).toEqual([segments - 32, segments - 32, 32]);
  expect(tokens).toBeGreaterThan(segments);
  expect(largest).toBeLessThan(1e-4);
  expect(filesOf(directory)).toEqual(before);
});

test("versions without weights are counted, a location replaces a checkpoint, and a wrong log-probability is named", async () => {
  const directory = await trained(FIRST);
  const checkpoints = join(directory, "checkpoints");
  const names = readdirSync(checkpoints).toSorted();
  const database = new DatabaseSync(join(directory, "episodes.sqlite"));
  const last = database.prepare("SELECT MAX(run_step) AS step FROM cohorts WHERE purpose = 'train'").get()?.["step"];
  // The last batch was played by the weights of the step before.
  const kept = names.find((name) => Number.parseInt(name, 10) === Number(last) - 1) as string;
  for (const name of names.filter((each) => each !== kept)) rmSync(join(checkpoints, name), { recursive: true });
  const some = await verify(directory);
  expect(some.verified).toBeGreaterThan(0);
  expect(some.withoutWeights).toBeGreaterThan(0);
  expect(some.verified + some.withoutWeights).toBe(some.segments);
  // D21: the sample is drawn from what can be verified, which is stated before the engine starts.
  const notices: string[] = [];
  const nine = await verify(directory, { sample: 9, seed: 3, onNotice: (text) => void notices.push(text) });
  expect(nine).toMatchObject({ verified: 9, verifiable: some.verified, withoutWeights: some.withoutWeights });
  const share = `${((100 * some.verified) / some.segments).toFixed(0)} %`;
  expect(notices).toEqual([
    `${some.verified} of ${some.segments} segments (${share}) can be verified; 9 of them are drawn.`,
  ]);

  // A location that names the weights of the last version, without any checkpoint.
  const model = join(mkdtempSync(join(tmpdir(), "mrlm-verified-")), "model");
  cpSync(join(checkpoints, kept, "model"), model, { recursive: true });
  rmSync(checkpoints, { recursive: true });
  const openEngine = () => Promise.reject(new Error("no engine is needed"));
  await expect(verify(directory, { openEngine })).rejects.toMatchObject({ code: "DATA_INVALID" });
  database.prepare("UPDATE weights SET location = ? WHERE step = ?").run(model, Number(last) - 1);
  expect(await verify(directory)).toMatchObject({ verified: some.verified, withoutWeights: some.withoutWeights });

  const row = database
    .prepare(
      `SELECT segments.*, episodes.id AS id FROM segments JOIN episodes ON episodes.key = segments.episode
       JOIN cohorts ON cohorts.key = episodes.cohort WHERE cohorts.run_step = ? AND cohorts.purpose = 'train' LIMIT 1`,
    )
    .get(Number(last)) as { readonly logprobs: Uint8Array; readonly episode: number; readonly id: string };
  const logprobs = new Float32Array(row.logprobs.slice().buffer);
  const token = logprobs.length - 1;
  logprobs[token] = (logprobs[token] as number) - 0.001;
  database
    .prepare("UPDATE segments SET logprobs = ? WHERE episode = ?")
    .run(new Uint8Array(logprobs.buffer), row.episode);
  database.close();
  await expect(verify(directory)).rejects.toMatchObject({
    code: "LOGPROBS_DIFFER",
    message: expect.stringMatching(
      new RegExp(`^1 of \\d+ .*episode ${row.id.replaceAll(/[^\w]/g, ".")} .* segment 0, token ${token} has`),
    ),
  });
  expect((await verify(directory, { tolerance: 0.01 })).largest).toBeCloseTo(0.001, 5);
});

test("mutation, a sampler that rounds: its log-probabilities are found", async () => {
  const directory = await trained(PAST, new RoundingEngine());
  await expect(verify(directory)).rejects.toMatchObject({ code: "LOGPROBS_DIFFER" });
});
