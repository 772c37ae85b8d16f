// npm run test:faults -- replay replays runs that were killed.
import { expect, test } from "@jest/globals";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RunDirectory } from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { BigramEngine, type BigramTraining, trainBigram } from "@mrlm/testing";
import { AHEAD, filesOf, replay, RUNS as IN_TURN } from "./support/replays.ts";

const RUNS = { ...IN_TURN, ...AHEAD };
const names = Object.keys(RUNS);

/** A run with few checkpoints, which take most of its time. */
const runOf = (name: string, config: JsonObject = {}): BigramTraining => {
  const run = RUNS[name] as BigramTraining;
  return { ...run, config: { ...run.config, checkpoint: { every: 4, keep: 100 }, ...config } };
};

const trained = new Map<string, Promise<string>>();
/** Trains a run once for all tests. */
function directoryOf(name: string): Promise<string> {
  const known = trained.get(name) ?? trainBigram(runOf(name)).then(({ summary }) => summary.directory);
  trained.set(name, known);
  return known;
}

async function copyOf(name: string): Promise<string> {
  const copy = join(mkdtempSync(join(tmpdir(), "mrlm-replayed-")), "run");
  cpSync(await directoryOf(name), copy, { recursive: true });
  return copy;
}

function change(directory: string, ...sql: readonly string[]): void {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"));
  for (const each of sql) expect([each, Number(database.prepare(each).run().changes) > 0]).toEqual([each, true]);
  database.close();
}

const failure = (work: Promise<unknown>): Promise<MrlmError> =>
  work.then(
    () => Promise.reject(new Error("It did not fail.")),
    (error: MrlmError) => error,
  );

test.each(names)("%s: a replay reaches every recorded checksum, and changes no file of the run", async (name) => {
  const directory = await directoryOf(name);
  const before = filesOf(directory);
  const { last, steps, equal, unrecorded, missed, unfinished } = await replay(directory);
  expect({ steps, unrecorded, missed, unfinished }).toEqual({
    steps: last,
    unrecorded: 0,
    missed: 0,
    unfinished: undefined,
  });
  expect(equal).toBeGreaterThan(last / 2);
  expect(filesOf(directory)).toEqual(before);
});

const [FIRST, SECOND] = names as [string, string];

test("the runs have refills, several stages, a goal that ended a stage, and past players", async () => {
  const count = async (name: string, sql: string): Promise<number> => {
    const database = new DatabaseSync(join(await directoryOf(name), "episodes.sqlite"), { readOnly: true });
    const found = Number(database.prepare(`SELECT COUNT(*) AS count FROM ${sql}`).get()?.["count"]);
    database.close();
    return found;
  };
  expect(await count(FIRST, "takes WHERE refill > 0")).toBeGreaterThan(0);
  const rows = RunDirectory.open(await directoryOf(FIRST)).metrics.rows();
  expect(rows.some(({ kind, accuracy }) => kind === "goal" && Number(accuracy) >= 0.2)).toBe(true);
  expect(rows.findLast(({ stage, kind }) => stage === "sft" && kind === "iteration")?.step).toBeLessThan(9);
  expect(await count(names[3] as string, "parts WHERE player_kind = 'past' AND version > 1")).toBeGreaterThan(0);
});

test("--out has the model and the metrics of the replayed run", async () => {
  const directory = await directoryOf(FIRST);
  const out = join(mkdtempSync(join(tmpdir(), "mrlm-replayed-")), "out");
  await replay(directory, "start", { out });
  const weights = (of: string): Buffer => readFileSync(join(of, "model", "weights.bin"));
  expect(weights(out).equals(weights(directory))).toBe(true);
  const learnt = (of: string): unknown[] =>
    RunDirectory.open(of)
      .metrics.rows()
      .filter(({ kind }) => kind === "iteration")
      .map(({ step, metrics }) => [step, metrics]);
  expect(learnt(out)).toEqual(learnt(directory));
  expect(await failure(replay(directory, "start", { out }))).toMatchObject({ code: "OUTPUT_INVALID" });
  const inside = join(directory, "replayed");
  expect(await failure(replay(directory, "start", { out: inside }))).toMatchObject({ code: "OUTPUT_INVALID" });
  expect(existsSync(inside)).toBe(false);
});

/** Segment of a part that learnt, of the batch of a step of the run. */
const learntAt = (step: number): string =>
  `rowid_of AS (SELECT segments.episode AS episode, segments.part AS part, segments.position AS position FROM segments
   JOIN episodes ON episodes.key = segments.episode JOIN cohorts ON cohorts.key = episodes.cohort
   JOIN credits ON credits.episode = episodes.key AND abs(credits.advantage) > 0.01
   WHERE cohorts.run_step = ${step} AND cohorts.purpose = 'train' LIMIT 1)`;
const ofLearnt = "(episode, part, position) = (SELECT episode, part, position FROM rowid_of)";

test("mutation, a changed batch: the first step that differs is named", async () => {
  const copy = await copyOf(SECOND);
  // Another sampled token: the weights after step 3 differ.
  const database = new DatabaseSync(join(copy, "episodes.sqlite"));
  const row = database.prepare(`WITH ${learntAt(3)} SELECT * FROM segments WHERE ${ofLearnt}`).get() as {
    readonly tokens: Uint8Array;
    readonly episode: number;
  };
  const tokens = new Int32Array(row.tokens.slice().buffer);
  tokens[tokens.length - 2] = tokens[tokens.length - 2] === 5 ? 6 : 5;
  database.prepare("UPDATE segments SET tokens = ? WHERE episode = ?").run(new Uint8Array(tokens.buffer), row.episode);
  database.close();
  expect(await failure(replay(copy))).toMatchObject({
    code: "REPLAY_DIFFERS",
    message: expect.stringMatching(/^Step 3 is the first that differs: .* \d+ checksums before it are equal\.$/),
  });
  // A replay from a later checkpoint does not read that batch.
  expect(await replay(copy, "00000004-1")).toMatchObject({ first: 4, missed: 0 });
});

test("mutation, a changed checksum: its step is named", async () => {
  const copy = await copyOf(SECOND);
  change(copy, "UPDATE weights SET checksum = 'x' || checksum WHERE step >= 6");
  expect(await failure(replay(copy))).toMatchObject({
    code: "REPLAY_DIFFERS",
    message: expect.stringMatching(/^Step 6 is the first/),
  });
  change(copy, "DELETE FROM weights WHERE step = 6");
  change(copy, "UPDATE weights SET checksum = substr(checksum, 2) WHERE step > 6");
  expect(await replay(copy)).toMatchObject({ unrecorded: 1, missed: 0 });
});

test.each<readonly [string, string, object]>([
  [
    "a cut segment",
    `WITH ${learntAt(2)} UPDATE segments SET tokens = substr(tokens, 5) WHERE ${ofLearnt}`,
    { code: "STORE_INVALID", message: expect.stringMatching(/Batch 2 .*step 2 of the run.*cut/) },
  ],
  [
    "damaged JSON",
    "UPDATE parts SET total = '{' WHERE episode IN (SELECT key FROM episodes WHERE cohort IN (SELECT key FROM cohorts WHERE run_step = 3 AND purpose = 'train'))",
    { code: "STORE_INVALID", message: expect.stringMatching(/Batch 3 .*cannot be decoded/) },
  ],
  [
    "a batch without a group",
    "DELETE FROM batches WHERE step = 2 AND position = 1",
    { code: "STORE_INVALID", message: expect.stringMatching(/Batch 2 .*3 groups instead of 4/) },
  ],
  [
    "a missing batch",
    "DELETE FROM takes WHERE step = 2",
    { code: "STORE_INVALID", message: expect.stringMatching(/lacks batch 2 /) },
  ],
  [
    "deleted tokens",
    "UPDATE cohorts SET has_tokens = 0 WHERE run_step = 2",
    { code: "DATA_INVALID", message: expect.stringMatching(/step 2 of the run/) },
  ],
  [
    "a foreign schema",
    "UPDATE meta SET value = '999' WHERE key = 'schema'",
    { code: "STORE_INVALID", message: expect.stringMatching(/has schema 999/) },
  ],
  [
    "another run's store",
    "UPDATE meta SET value = 'other' WHERE key = 'run'",
    { code: "STORE_INVALID", message: expect.stringMatching(/belongs to run other/) },
  ],
])("%s is refused", async (_name, sql, expected) => {
  const copy = await copyOf(SECOND);
  change(copy, sql);
  expect(await failure(replay(copy))).toMatchObject(expected);
});

test("a run without a store, a missing or foreign checkpoint, the last checkpoint, and a run under way are refused", async () => {
  const copy = await copyOf(SECOND);
  const other = await directoryOf(FIRST);
  expect(await failure(replay(copy, "00000099-0"))).toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
  const foreign = join(other, "checkpoints", readdirSync(join(other, "checkpoints"))[0] as string);
  expect(await failure(replay(copy, foreign))).toMatchObject({ code: "CHECKPOINT_MISMATCH" });
  const last = readdirSync(join(copy, "checkpoints")).toSorted().at(-1) as string;
  expect(await failure(replay(copy, last))).toMatchObject({ code: "DATA_INVALID" });
  writeFileSync(join(copy, "checkpoints", last, "state.json"), "{");
  expect(await failure(replay(copy, last))).toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
  const lock = RunDirectory.open(copy).lock();
  expect(await failure(replay(copy))).toMatchObject({ code: "RUN_IN_USE" });
  lock.release();
  rmSync(join(copy, "episodes.sqlite"));
  expect(await failure(replay(copy))).toMatchObject({ code: "EPISODE_NOT_FOUND" });
  expect(await failure(replay(join(copy, "none")))).toMatchObject({ code: "RUN_NOT_FOUND" });
});

test("a run that ended in the middle of a step is replayed up to its last complete step", async () => {
  const output = mkdtempSync(join(tmpdir(), "mrlm-replayed-"));
  let steps = 0;
  const engine = new Proxy(new BigramEngine(), {
    get: (target, property: keyof BigramEngine) =>
      property === "optimStep" && ++steps > 12
        ? () => Promise.reject(new MrlmError("ENGINE_EXITED", "The engine was killed."))
        : (target[property] as () => unknown).bind(target),
  });
  await failure(trainBigram({ ...runOf(SECOND, { output, checkpoint: { every: 1, keep: 100 } }), engine }));
  const directory = join(output, readdirSync(output)[0] as string);
  const result = await replay(directory);
  expect(result).toMatchObject({ first: 0, unfinished: result.last + 1, missed: 0, unrecorded: 0 });
  expect(result.equal).toBeGreaterThanOrEqual(result.last);
});
