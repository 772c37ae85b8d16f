import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import type { EpisodeList } from "@mrlm/store";
import { trainBigram } from "@mrlm/testing";
import { serveUi, type UiServer } from "@mrlm/ui";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { rowsOf } from "./support/run-with-episodes.ts";

const folder = temporaryDirectory();
let server: UiServer;
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

async function get<T>(path: string): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${server.port}/api/${path}`);
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
  const [{ id: run } = { id: "" }] = (await get<{ runs: { id: string }[] }>("runs")).runs;
  const path = `runs/${encodeURIComponent(run)}/episodes`;
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
