import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/spec";
import { lettersEnvironment } from "@mrlm/testing";
import { collectEpisodes, type CollectionRequest } from "../src/collection/collect-episodes.ts";
import { writeCollection } from "../src/collection/collection-file.ts";
import { Journal } from "../src/collection/journal.ts";
import { examineFile } from "../src/diagnosis/examine-file.ts";
import { readRows } from "../src/collection/rows.ts";
import { bigramEngine, localHost, renderer, runner } from "./support/rollouts.ts";
import { throughputEngine } from "./support/throughput-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-collect-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newFile = (extension = ".jsonl"): string => join(folder, `${files++}${extension}`);

/** One task in seven cannot be scored, one fails. */
const environment = lettersEnvironment({
  reward(text, { index }) {
    if (index % 7 === 0) return unscored("SCORER_FAILED", "gone");
    if (index % 7 === 1) throw new Error("broken");
    return score(index % 7 === 2 ? -1 : text.length, { length: text.length, ...(index % 2 === 0 ? { even: 1 } : {}) });
  },
});
const request = async (changes: Partial<CollectionRequest> = {}): Promise<CollectionRequest> => ({
  rollouts: await runner({ host: await localHost(environment) }),
  environment: { id: "letters@1" },
  split: "train",
  size: 64,
  tasks: 12,
  groupSize: 2,
  players: "policy",
  sampling: { temperature: 1, maxTokens: 6 },
  seed: 3,
  renderer: () => renderer.fingerprint,
  batchTasks: 5,
  signal: new AbortController().signal,
  onProgress: () => undefined,
  ...changes,
});
const collect = async (changes: Partial<CollectionRequest> = {}, path = newFile()) => {
  const journal = await Journal.open(`${path}.partial`, { seed: changes.seed ?? 3 });
  await collectEpisodes(await request(changes), journal);
  const rows = await writeCollection(path, journal, {});
  return { path, rows, counts: journal.counts(), text: path.endsWith(".jsonl") ? readFileSync(path, "utf8") : "" };
};
const parsed = (text: string) =>
  text
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as { task: string; reward: number | null; id: string; error: unknown; unscored: unknown },
    );

describe("a collection", () => {
  test("a model samples by its own parameters where they are stated", async () => {
    const longest = async (changes: Partial<CollectionRequest>): Promise<number> =>
      Math.max(...parsed((await collect(changes)).text).map(({ reward }) => reward ?? 0));
    expect(await longest({})).toBeGreaterThan(1);
    expect(await longest({ policySampling: { policy: { temperature: 1, maxTokens: 1 } } })).toBeLessThanOrEqual(1);
  });

  test("holds every episode, the failed and the unscored with their causes, and counts them", async () => {
    const { rows, counts, text } = await collect();
    const all = parsed(text);
    const of = (rest: number): number => all.filter(({ task }) => Number(task.split("/")[1]) % 7 === rest).length;
    expect([rows, all.length, new Set(all.map(({ id }) => id)).size]).toEqual([24, 24, 24]);
    expect([counts["episodes"], counts["failed"], counts["unscored"], counts["kept"]]).toEqual([24, of(1), of(0), 24]);
    for (const { task, reward, error, unscored: lost } of all) {
      const rest = Number(task.split("/")[1]) % 7;
      expect([reward === null, error !== null, lost !== null]).toEqual([rest < 2, rest === 1, rest === 0]);
    }
  });

  test("U1: answers that max_tokens cut are counted, and doctor finds them in JSONL and in Parquet", async () => {
    const changes = { sampling: { temperature: 1, maxTokens: 1 } };
    const { counts, path } = await collect(changes);
    const { path: parquet } = await collect(changes, newFile(".parquet"));
    const lines = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .flatMap((line) => (JSON.parse(line) as { turns: { stop_reason: string }[] }).turns);
    expect([counts["answers"], counts["cut_answers"]]).toEqual([
      lines.length,
      lines.filter(({ stop_reason }) => stop_reason === "length").length,
    ]);
    for (const file of [path, parquet]) {
      const { kind, episodes, findings } = await examineFile(file);
      expect([kind, episodes]).toEqual(["collection", 24]);
      expect(findings.map(({ rule }) => rule)).toEqual(
        expect.arrayContaining(["episodes-failed", "episodes-unscored", "truncation"]),
      );
    }
    await expect(examineFile(new URL(import.meta.url).pathname)).rejects.toMatchObject({ code: "DATA_INVALID" });
  });

  test("--filter-reward keeps what earned enough; what has no score never does", async () => {
    const { text, counts } = await collect({ filterReward: 0 });
    expect(parsed(text).every(({ reward }) => reward !== null && reward >= 0)).toBe(true);
    expect([counts["episodes"], counts["kept"]]).toEqual([24, parsed(text).length]);
    expect(counts["kept"]).toBeLessThan(counts["scored"] as number);
  });

  test("is the same, byte for byte, when it was interrupted and begun again; a cut line is forgotten", async () => {
    const whole = await collect();
    const path = newFile();
    const stop = new AbortController();
    const interrupted = await Journal.open(`${path}.partial`, { seed: 3 });
    await expect(
      collectEpisodes(
        await request({ signal: stop.signal, onProgress: (done) => done >= 10 && stop.abort() }),
        interrupted,
      ),
    ).rejects.toMatchObject({ code: "CANCELLED" });
    expect([interrupted.has(0), interrupted.has(1), existsSync(path)]).toEqual([true, false, false]);
    writeFileSync(`${path}.partial`, '{"batch": 1, "rows": [{"id"', { flag: "a" });
    expect((await collect({}, path)).text).toBe(whole.text);
    await expect(Journal.open(`${path}.partial`, { seed: 4 })).rejects.toThrow(
      /begun with different arguments: seed was 3 and is 4/,
    );
  });

  test("past the end of the split tasks come again, with other episodes", async () => {
    const { text } = await collect({ size: 4, tasks: 8, groupSize: 1, batchTasks: 16 });
    const all = parsed(text);
    expect([all.length, new Set(all.map(({ id }) => id)).size, new Set(all.map(({ task }) => task)).size]).toEqual([
      8, 8, 4,
    ]);
  });

  test("in throughput mode each group is written down as it is complete", async () => {
    const rollouts = await runner({
      host: await localHost(environment),
      engine: throughputEngine(await bigramEngine()),
      isDeterministic: false,
    });
    const { text, counts } = await collect({ rollouts, batchTasks: undefined });
    expect([counts["episodes"], new Set(parsed(text).map(({ id }) => id)).size]).toEqual([24, 24]);
  });
});

describe("Parquet", () => {
  test("holds the same rows as JSONL", async () => {
    const { path } = await collect();
    const { path: parquet, rows } = await collect({}, newFile(".parquet"));
    const written = (await readRows(path, ".")) as Record<string, unknown>[];
    const read = (await readRows(parquet, ".")) as Record<string, unknown>[];
    expect(rows).toBe(read.length);
    // A column that a row lacks is null there.
    const plain = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value, (_, member: unknown) => (member === null ? undefined : member)));
    const isWritten = (row: Record<string, unknown>): unknown => {
      const { components = {}, ...rest } = plain(row) as { components?: unknown };
      return { components, ...rest };
    };
    expect(read.map(isWritten)).toEqual(written.map(isWritten));
  });

  test("a collection without rows is a file without rows; a file that is none is refused", async () => {
    const { path, rows } = await collect({ filterReward: 1000 }, newFile(".parquet"));
    expect([rows, await readRows(path, ".")]).toEqual([0, []]);
    const broken = newFile(".parquet");
    writeFileSync(broken, "PAR1 or not");
    await expect(readRows(broken, ".")).rejects.toMatchObject({ code: "DATA_INVALID" });
  });
});
