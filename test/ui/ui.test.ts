import { cpSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { grpo } from "@mrlm/grpo";
import type { JsonObject } from "@mrlm/spec";
import type { EpisodeList } from "@mrlm/store";
import { trainBigram } from "@mrlm/testing";
import { serveUi } from "@mrlm/ui";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";

const folder = temporaryDirectory();
let server: Awaited<ReturnType<typeof serveUi>>;
let run: string;
let directory: string;

beforeAll(async () => {
  const stages = [{ algorithm: "grpo", steps: 3, prompts_per_step: 4, group_size: 4, learning_rate: 0.5 }];
  const { summary } = await trainBigram({ algorithms: [grpo], stages, config: { output: folder } });
  directory = summary.directory;
  server = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
  const { runs } = await get<{ runs: { id: string; status: string; step: number; planned: number }[] }>("/api/runs");
  expect(runs).toMatchObject([{ status: "finished", step: 3, planned: 3 }]);
  run = `/api/runs/${encodeURIComponent(runs[0]?.id ?? "")}`;
});
afterAll(() => server?.close());

async function get<T>(path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text}`);
  return JSON.parse(text) as T;
}

/** Sends a request with headers that fetch does not allow. Returns the status and the headers of the response. */
function status(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<number | undefined> {
  return new Promise((resolve, reject) =>
    httpRequest({ port: server.port, host: "127.0.0.1", path, headers, method }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end(),
  );
}

function sql(query: string): unknown[][] {
  const database = new DatabaseSync(join(directory, "episodes.sqlite"), { readOnly: true });
  try {
    return database
      .prepare(query)
      .all()
      .map((row) => Object.values(row));
  } finally {
    database.close();
  }
}

test("metrics are the numbers of metrics.jsonl, with their intervals", async () => {
  const { series } = await get<{ series: { name: string; steps: number[]; values: number[] }[] }>(`${run}/metrics`);
  const rows = readFileSync(join(directory, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; step: number; metrics?: JsonObject });
  const iterations = rows.filter(({ kind }) => kind === "iteration");
  for (const name of Object.keys(iterations[0]?.metrics ?? {})) {
    const found = series.find((each) => each.name === name);
    expect([name, found?.steps, found?.values]).toEqual([
      name,
      iterations.map(({ step }) => step),
      iterations.map(({ metrics }) => metrics?.[name]),
    ]);
  }
});

const FILTERS = {
  "run_step=2": "run_step = 2",
  "run_step=2..3&reward=0.1..": "run_step BETWEEN 2 AND 3 AND reward >= 0.1",
  "task=train": "task LIKE 'train/%'",
  "role=agent&tokens=..5": "role = 'agent' AND tokens <= 5",
  "state=taken&outcome=scored": "state = 'taken' AND reward IS NOT NULL",
  "outcome=failed": "error IS NOT NULL",
} as const;

test.each(Object.entries(FILTERS))("the list of episodes with %s is that of SQL", async (filter, where) => {
  const list = await get<EpisodeList>(`${run}/episodes?${filter}&sort=-reward&limit=500`);
  const [row] = sql(`SELECT COUNT(*), COUNT(reward), AVG(reward) FROM v_episodes WHERE ${where}`);
  expect([list.total, list.scored, list.meanReward]).toEqual(row);
  const expected = sql(`SELECT reward FROM v_episodes WHERE ${where} ORDER BY reward DESC LIMIT 500`);
  expect(list.rows.map((each) => [each[list.columns.indexOf("reward")]])).toEqual(expected);
  expect(list.histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(list.scored);
});

test("groups without signal are those whose rewards are equal", async () => {
  const list = await get<EpisodeList>(`${run}/episodes?purpose=train&signal=none&limit=500`);
  const rows = sql(
    "SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM v_episodes WHERE purpose = 'train' GROUP BY group_id, role HAVING COUNT(*) > 1 AND MIN(reward) = MAX(reward))",
  );
  expect(list.total).toBe(rows[0]?.[0] ?? 0);
});

interface Detail {
  readonly episode: {
    readonly agents: Record<string, { segments: { length: number }[]; total: { value: number } }>;
    readonly turns: unknown[];
  };
  readonly group: EpisodeList;
}

test("an episode has its turns, its group, and tokens with their texts and numbers", async () => {
  const list = await get<EpisodeList>(`${run}/episodes?purpose=train&limit=1`);
  const value = (name: string): unknown => list.rows[0]?.[list.columns.indexOf(name)];
  const path = `${run}/episodes/${String(value("episode_key"))}`;
  const { episode, group } = await get<Detail>(path);
  expect(episode.agents["agent"]?.total.value).toBe(value("reward"));
  expect([episode.turns.length, group.total]).toEqual([value("turns"), 4]);
  const { length } = episode.agents["agent"]?.segments[0] ?? { length: 0 };
  const bytes = await (await fetch(`http://127.0.0.1:${server.port}${path}/tokens`)).arrayBuffer();
  expect(bytes.byteLength).toBe(5 * 4 * length + 4 * Math.ceil(length / 4));
  const tokens = new Int32Array(bytes, 0, length);
  const advantages = new Float32Array(bytes, 12 * length, length);
  const mask = new Uint8Array(bytes, 20 * length, length);
  expect(mask.reduce((sum, each) => sum + each, 0)).toBe(value("tokens"));
  for (let at = 0; at < length; at++)
    expect(advantages[at]).toBe(mask[at] === 1 ? Math.fround(Number(value("advantage"))) : Number.NaN);
  const texts = await get<Record<string, { text: string }>>(`${path}/texts`);
  expect(Object.keys(texts).toSorted()).toEqual([...new Set(Array.from(tokens, String))].toSorted());
});

test("tables are exported as CSV and Parquet", async () => {
  const csv = await (await fetch(`http://127.0.0.1:${server.port}${run}/episodes?format=csv&run_step=1`)).text();
  const list = await get<EpisodeList>(`${run}/episodes?run_step=1&limit=500`);
  expect(csv.trim().split("\r\n")).toHaveLength(list.total + 1);
  const parquet = await fetch(`http://127.0.0.1:${server.port}${run}/metrics?format=parquet`);
  expect(
    Buffer.from(await parquet.arrayBuffer())
      .subarray(0, 4)
      .toString(),
  ).toBe("PAR1");
});

test("requests of other sites, paths outside of the runs, and wrong arguments are refused", async () => {
  expect(await status("/api/runs", { host: "evil.example" })).toBe(403);
  expect(await status("/api/runs", { origin: "http://evil.example" })).toBe(403);
  expect(await status("/api/runs", {}, "DELETE")).toBe(405);
  expect(await status("/api/runs/..%2F..%2Fetc")).toBe(404);
  expect(await status("/..%2f..%2fpackage.json")).toBe(404);
  expect(await status("/api/runs/%ff")).toBe(400);
  for (const episode of ["nothing", "-1", "999999", "1e3", "9".repeat(40)])
    expect([episode, await status(`${run}/episodes/${episode}`)]).toEqual([episode, 404]);
  for (const query of ["reward=x", "nothing=1", "sort=nothing", "limit=1e9", "outcome=won", "format=exe"])
    expect([query, await status(`${run}/episodes?${query}`)]).toEqual([query, 400]);
  const page = await fetch(`http://127.0.0.1:${server.port}/runs/any`);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
});

test("any argument is answered or refused, and the server continues", async () => {
  const word = fc.oneof(fc.string(), fc.constantFrom("reward", "sort", "component.", "..", "0..1", "-reward", "task"));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word), { maxLength: 4 }), async (pairs) => {
      const query = new URLSearchParams(
        pairs.map(([name, value]): [string, string] => [name.toWellFormed(), value.toWellFormed()]),
      );
      expect([200, 400]).toContain(await status(`${run}/episodes?${query}`));
    }),
    { numRuns: 50 },
  );
});

test("runs that are damaged, empty or gone are shown as such", async () => {
  const broken = join(folder, "broken");
  cpSync(directory, broken, { recursive: true });
  writeFileSync(join(broken, "run.json"), "{");
  const unnamed = join(folder, "unnamed");
  cpSync(directory, unnamed, { recursive: true });
  const rows = readFileSync(join(directory, "metrics.jsonl"), "utf8").replaceAll('"stage":', '"stagf":');
  writeFileSync(join(unnamed, "metrics.jsonl"), rows);
  const cut = join(folder, "cut");
  cpSync(directory, cut, { recursive: true });
  writeFileSync(join(cut, "episodes.sqlite"), readFileSync(join(directory, "episodes.sqlite")).subarray(0, 5_000));
  const other = await serveUi({ directories: [folder], address: "127.0.0.1:0" });
  const answer = async (path: string): Promise<{ error?: { code: string } }> =>
    (await (await fetch(`http://127.0.0.1:${other.port}${path}`)).json()) as { error?: { code: string } };
  try {
    const { runs } = (await answer("/api/runs")) as unknown as { runs: { id: string; status: string }[] };
    expect(runs.map(({ id, status: state }) => [id, state])).toContainEqual(["broken", "damaged"]);
    expect((await answer("/api/runs/unnamed")).error).toBeNull();
    expect((await answer("/api/runs/cut/episodes")).error?.code).toMatch(/^STORE_/);
    renameSync(broken, join(folder, ".gone"));
    expect((await answer("/api/runs/broken/metrics?after=0")).error?.code ?? "").toMatch(/^(|RUN_NOT_FOUND)$/);
    expect((await answer("/api/runs/broken")).error?.code).toBe("RUN_NOT_FOUND");
  } finally {
    await other.close();
  }
});
