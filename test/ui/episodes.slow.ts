import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import type { EpisodeList } from "@mrlm/store";
import { trainBigram } from "@mrlm/testing";
import { serveUi } from "@mrlm/ui";
import { run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { rowsOf } from "./support/run-with-episodes.ts";

const folder = temporaryDirectory();
const elsewhere = temporaryDirectory();
let server: Awaited<ReturnType<typeof serveUi>>;
let directory: string;

beforeAll(async () => {
  const stage = { algorithm: "grpo", prompts_per_step: 4, group_size: 4, learning_rate: 0.5 };
  const { summary } = await trainBigram({
    algorithms: [grpo],
    stages: [
      { name: "first", steps: 2, ...stage },
      { name: "second", steps: 1, ...stage },
    ],
    config: { output: folder, name: "evaluated", eval: { tasks: 3, samples: 2 } },
  });
  directory = summary.directory;
  server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
});
afterAll(() => server?.close());

async function get<T>(path: string, { port } = server): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}/api/${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as T;
}

interface Detail {
  readonly step: number;
  readonly stage: string;
  readonly episode: {
    readonly id: string;
    readonly task: string;
    readonly agents: Record<string, { total: { value: number } }>;
  };
  readonly group: EpisodeList;
}

test("N1: each row of an evaluation leads to its own episode, group and tokens", async () => {
  const [{ id } = { id: "" }] = (await get<{ runs: { id: string }[] }>("runs")).runs;
  const path = `runs/${encodeURIComponent(id)}/episodes`;
  const { columns, rows } = await get<EpisodeList>(`${path}?purpose=eval&limit=500`);
  const at = (row: EpisodeList["rows"][number], name: string): unknown => row[columns.indexOf(name)];
  const steps = new Set(rows.map((row) => at(row, "run_step")));
  // Each evaluation repeats the ids of the one before training.
  expect(steps.size).toBe(3);
  expect(new Set(rows.map((row) => at(row, "episode"))).size).toBe(rows.length / steps.size);
  for (const row of rows) {
    const place = `${path}/${String(at(row, "episode_key"))}`;
    const { step, stage, episode, group } = await get<Detail>(place);
    expect([episode.id, step, stage, episode.task, episode.agents["agent"]?.total.value]).toEqual(
      ["episode", "run_step", "stage", "task", "reward"].map((name) => at(row, name)),
    );
    expect(group.rows.map((member) => member[columns.indexOf("run_step")])).toEqual(
      Array.from({ length: stage === "evaluation/sampled" ? 2 : 1 }, () => step),
    );
    const [[bytes]] = rowsOf(
      directory,
      "SELECT tokens FROM segments WHERE episode = ?",
      at(row, "episode_key") as number,
    ) as [[Uint8Array]];
    const tokens = await fetch(`http://127.0.0.1:${server.port}/api/${place}/tokens`);
    expect(Buffer.from(await tokens.arrayBuffer()).subarray(0, bytes.length)).toEqual(Buffer.from(bytes));
  }
});

/** Copies the store of the run to a file that belongs to no run, as `mrlm eval --store` writes it. */
function storeFile(): string {
  const file = join(elsewhere, "ev.sqlite");
  copyFileSync(join(directory, "episodes.sqlite"), file);
  return file;
}

test("N4: the file of `mrlm eval --store` is shown in the viewer: its episodes with tokens, and no curves", async () => {
  const file = storeFile();
  const alone = await serveUi({ directories: [file], address: "127.0.0.1:0" });
  try {
    const { runs } = await get<{ runs: { id: string; status: string }[] }>("runs", alone);
    expect(runs).toMatchObject([{ id: "ev.sqlite", status: "store" }]);
    expect(await get("runs/ev.sqlite", alone)).toMatchObject({ environments: ["letters@1"], findings: [] });
    for (const section of ["config", "metrics", "workers", "choices", "tasks"])
      expect(await get(`runs/ev.sqlite/${section}`, alone)).toBeDefined();
    const { columns, rows, total } = await get<EpisodeList>("runs/ev.sqlite/episodes?purpose=eval", alone);
    expect([total, rows.length]).toEqual([27, 27]);
    const place = `runs/ev.sqlite/episodes/${String(rows[0]?.[columns.indexOf("episode_key")])}`;
    expect(await get<Detail>(place, alone)).toMatchObject({ purpose: "eval" });
    expect(await get(`${place}/texts`, alone)).toEqual({});
    const tokens = await fetch(`http://127.0.0.1:${alone.port}/api/${place}/tokens`);
    expect((await tokens.arrayBuffer()).byteLength).toBeGreaterThan(0);
  } finally {
    await alone.close();
  }
});

test("N4: mrlm ui refuses files that are no episode stores", async () => {
  const [text, other] = [join(elsewhere, "notes.txt"), join(elsewhere, "other.sqlite")];
  writeFileSync(text, "no store");
  const database = new DatabaseSync(other);
  database.exec("CREATE TABLE t (a)");
  database.close();
  const codes = [text, other].map((file) => serveUi({ directories: [file], address: "127.0.0.1:0" }));
  expect(await Promise.allSettled(codes)).toMatchObject([
    { reason: { code: "RUN_NOT_FOUND" } },
    { reason: { code: "STORE_INVALID" } },
  ]);
});

test("N4, N23: mrlm show prints a store and several runs, each below its path; mrlm doctor examines several runs", async () => {
  const file = storeFile();
  const [one, several, missing, examined] = await Promise.all([
    run(["show", file, "--task", "eval/1", "-n", "100"]),
    run(["show", file, directory, "-n", "1", "--json"]),
    run(["show", join(elsewhere, "none.sqlite")]),
    run(["doctor", directory, directory]),
  ]);
  expect(one.code).toBe(0);
  expect(one.stdout.match(/^task eval\/1 /gm)).toHaveLength(9);
  expect(one.stdout).toContain("greedy evaluation after step 3");
  const events = several.stdout.trim().split("\n");
  expect(events.map((line) => (JSON.parse(line) as { path: string }).path)).toEqual([file, directory]);
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("RUN_NOT_FOUND") });
  expect(examined.stdout.match(/finished, 3 iterations in 2 stages/g)).toHaveLength(2);
});

test("N17: runs are listed with the newest first, and those without a start last", async () => {
  const runs = join(elsewhere, "runs");
  mkdirSync(runs);
  for (const [name, started] of [
    ["a", "2026-01-02T00:00:00Z"],
    ["b", undefined],
    ["c", "2026-03-01T00:00:00Z"],
    ["d", "2025-12-31T23:59:59Z"],
  ] as const) {
    mkdirSync(join(runs, name));
    writeFileSync(join(runs, name, "config.yaml"), "");
    writeFileSync(join(runs, name, "run.json"), JSON.stringify({ status: "stopped", started }));
  }
  const listing = await serveUi({ directories: [runs], address: "127.0.0.1:0" });
  const { runs: listed } = await get<{ runs: { id: string }[] }>("runs", listing).finally(() => void listing.close());
  expect(listed.map(({ id }) => id)).toEqual(["c", "a", "d", "b"]);
});
