import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { dpo } from "@mrlm/dpo";
import { definePlugin } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import type { RecordedRow } from "@mrlm/kit/learning";
import {
  collectEpisodes,
  examineFile,
  Journal,
  LocalHost,
  openSession,
  parseConfig,
  PluginHost,
  writeCollection,
} from "@mrlm/runtime";
import { sft } from "@mrlm/sft";
import { BigramEngine, duelEnvironment, trainBigram } from "@mrlm/testing";
import { opponentDirectory } from "./support/opponent.ts";

type CollectionRequest = Parameters<typeof collectEpisodes>[0];

const folder = mkdtempSync(join(tmpdir(), "mrlm-collected-"));
let rival: string;
beforeAll(async () => {
  rival = await opponentDirectory();
});

/** Collects episodes as `mrlm collect` does, of a bigram model that plays as the policy of the configuration. */
async function collect(
  players: string,
  file: string,
): Promise<{ rows: RecordedRow[]; counts: Record<string, number> }> {
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [duelEnvironment()] })]);
  const host = new LocalHost({ source });
  const random = `{config: {initializer_range: 0.5, vocab_size: 22, eos_token_id: 1, pad_token_id: 0}, tokenizer: {characters: {alphabet: abcd0123456789}}, seed: 1}`;
  const text = `seed: 3\npolicies: {alice: {random: ${random}}}\nenvironments: [{id: duel, players: ${players}}]\nstages: [{algorithm: none}]\nsampling: {max_sequence_tokens: 512}\n`;
  const loaded = parseConfig(text, { path: join(folder, "run.yaml") });
  const ref = { id: "duel@1" };
  const named = { ref, description: await host.describe(ref), known: loaded.config.environments[0] };
  const session = await openSession({
    config: loaded.config,
    loaded,
    environment: named,
    split: "train",
    host,
    scripts: host,
    policies: source,
    openEngine: async () => ({ engine: new BigramEngine() }),
    logger: silentLogger,
    onNotice: () => undefined,
  });
  const request: CollectionRequest = {
    rollouts: session.rollouts,
    environment: ref,
    split: "train",
    size: 64,
    tasks: 4,
    groupSize: 4,
    players: session.environment.players,
    sampling: { temperature: 1, maxTokens: 8 },
    seed: 3,
    renderer: session.fingerprint,
    batchTasks: 2,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  };
  const journal = await Journal.open(`${file}.partial`, {});
  await collectEpisodes(request, journal);
  await writeCollection(file, journal, {});
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return { rows: lines.map((line) => JSON.parse(line) as RecordedRow), counts: journal.counts() };
}

test("collected rows state role and player; the measured model plays as a policy, and counts are of its rows", async () => {
  const file = join(folder, "rival.jsonl");
  const { rows, counts } = await collect(`{first: alice, second: {model: ${rival}}}`, file);
  expect(counts).toMatchObject({ episodes: 16, rows: 32, scored: 16, answers: 16 });
  const [own, other] = [rows.filter(({ role }) => role === "first"), rows.filter(({ role }) => role === "second")];
  expect(own).toHaveLength(16);
  for (const row of own) expect(row.player).toEqual({ kind: "policy", name: "alice", policy: "alice" });
  for (const row of other) expect(row.player).toEqual({ kind: "model", name: rival });
  expect(new Set(own.map(({ renderer }) => renderer)).size).toBe(1);
  expect(new Set(rows.map(({ renderer }) => renderer)).size).toBe(2);
  const mean = own.reduce((sum, { reward }) => sum + (reward as number), 0) / 16;
  expect((counts["reward_sum"] as number) / (counts["scored"] as number)).toBeCloseTo(mean, 9);
  await expect(examineFile(file)).resolves.toMatchObject({ episodes: 16 });
});

test("training from a file leaves out the rows of other players, with their number", async () => {
  const file = join(folder, "script.jsonl");
  const { rows } = await collect("{second: {scripted: random}}", file);
  expect(
    rows
      .filter(({ player }) => player?.kind === "scripted")
      .map(({ renderer, segments }) => [renderer, segments.length]),
  ).toEqual(Array.from({ length: 16 }, () => ["", 0]));
  const stages = [{ algorithm: "sft", steps: 1, data: file, batch_size: 4 }];
  const learnt = await trainBigram({ algorithms: [sft], stages });
  expect(learnt.reports[0]?.notices).toEqual([expect.stringMatching(/: 16 rows are used; 16 of other players\.$/)]);
  const notices: string[] = [];
  await trainBigram({
    algorithms: [dpo],
    stages: [{ algorithm: "dpo", steps: 1, data: file, batch_size: 2 }],
    logger: { ...silentLogger, warn: (text: string) => void notices.push(text) },
  });
  expect(notices).toEqual([
    expect.stringMatching(/: 16 of 32 rows are left out: other players than a policy played them\.$/),
  ]);
  const others = join(folder, "others.jsonl");
  writeFileSync(
    others,
    rows
      .filter(({ role }) => role === "second")
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  );
  for (const [algorithm, definition] of [
    ["sft", sft],
    ["dpo", dpo],
  ] as const)
    await expect(
      trainBigram({ algorithms: [definition], stages: [{ algorithm, steps: 1, data: others }] }),
    ).rejects.toMatchObject({ code: "DATA_INVALID" });
});
