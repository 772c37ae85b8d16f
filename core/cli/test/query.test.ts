import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readParquet } from "@mrlm/runtime";
import type { Trajectory } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { openEpisodeStore } from "@mrlm/store";
import { query } from "../src/commands/query.ts";
import type { QueryOptions } from "../src/declarations/query.ts";
import { recordedConsole } from "./support/console.ts";

let run: string;

beforeAll(async () => {
  run = mkdtempSync(join(tmpdir(), "mrlm-query-"));
  writeFileSync(join(run, "config.yaml"), "");
  const store = await openEpisodeStore({
    path: join(run, "episodes.sqlite"),
    run: "run",
    purpose: "eval",
    endsLeases: false,
  });
  const player: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };
  const trajectories = [0, 1, 2].map((member): Trajectory => ({
    id: `episode-${member}`,
    environment: "game@1",
    task: "eval/0",
    seed: null,
    group: "group",
    member,
    turns: [],
    agents: {
      agent: {
        role: "agent",
        player,
        segments: [],
        total: { scored: true, value: member / 4, components: {} },
        end: { terminated: true, truncated: false },
      },
    },
    info: { text: "line\n".repeat(40) },
    seconds: { sampling: 0, environment: 0 },
  }));
  await store.record({
    purpose: "eval",
    stage: "evaluation/greedy",
    runStep: 3,
    place: 0,
    environment: "game@1",
    versions: {},
    checksum: null,
    groups: [{ id: "group", task: "eval/0", players: { agent: player }, trajectories }],
  });
  await store.close();
});
afterAll(() => rmSync(run, { recursive: true }));

async function printed(
  sql: string,
  args: Partial<QueryOptions> = {},
  json = false,
): Promise<{ out: string; err: string }> {
  const recorded = recordedConsole({ json });
  await query({ console: recorded.console, directory: run }, run, sql, { timeout: 30, ...args });
  return { out: recorded.out(), err: recorded.err() };
}

const REWARDS = "select episode, reward, info from v_episodes order by member";

describe("mrlm query", () => {
  test("prints a table, with long texts cut", async () => {
    const { out } = await printed(REWARDS);
    expect(out.split("\n")[0]).toMatch(/^episode +reward +info$/);
    expect(out).toMatch(/^episode-1 +0.25 +\{"text":"line\\nline.*…$/m);
  });

  test("--json prints each row whole, and states how many there are", async () => {
    const { out, err } = await printed(REWARDS, { limit: 2 }, true);
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ event }) => event)).toEqual(["row", "row", "query"]);
    expect(lines[1]).toMatchObject({
      row: { episode: "episode-1", reward: 0.25, info: JSON.stringify({ text: "line\n".repeat(40) }) },
    });
    expect(lines[2]).toEqual({ event: "query", rows: 2, cut: true, seconds: expect.any(Number) });
    expect(err).toMatch(/more rows than 2: raise --limit/);
  });

  test("--parquet writes columns of whole numbers, numbers and text", async () => {
    const file = join(run, "rows.parquet");
    await printed("select member, reward, episode, seed from v_episodes order by member", { parquet: file });
    expect(await readParquet(file)).toEqual(
      [0, 1, 2].map((member) => ({
        member,
        reward: member / 4,
        episode: `episode-${member}`,
        seed: null,
      })),
    );
    await expect(printed(REWARDS, { parquet: file })).rejects.toMatchObject({ code: "USAGE" });
  });

  test.each([
    ["select rewards from v_episodes", /no such column: rewards\. Did you mean "reward"\?/],
    ["select e.taks from v_episodes e", /no such column: e\.taks\. Did you mean "task"\?/],
    ["select * from v_episode", /no such table: v_episode\. Did you mean "v_episodes"\?/],
  ])("%s: the error has the nearest name", async (sql, message) => {
    await expect(printed(sql)).rejects.toMatchObject({
      code: "QUERY_INVALID",
      message: expect.stringMatching(message),
    });
  });

  test("a run without a store is refused", async () => {
    const other = join(run, "other");
    mkdirSync(other);
    writeFileSync(join(other, "config.yaml"), "");
    const { console } = recordedConsole();
    const refused = query({ console, directory: run }, other, REWARDS, { timeout: 30 });
    await expect(refused).rejects.toMatchObject({ code: "EPISODE_NOT_FOUND" });
  });
});
