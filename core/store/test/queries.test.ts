import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type QueryResult, type QueryValue, queryStore, VIEWS } from "../src/index.ts";
import { runQuery } from "../src/run-query.ts";
import type { StoreDatabase } from "../src/store-database.ts";
import { filledStore } from "./support/filled-store.ts";

const LIMITS = { rows: 100, seconds: 30, megabytes: 400 };
let folder: string;
let path: string;
let store: StoreDatabase;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mrlm-store-"));
  path = join(folder, "episodes.sqlite");
  store = filledStore({ path }, "run");
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

/** The result of a query, in this process. */
function select(sql: string): QueryResult {
  let columns: readonly string[] = [];
  const found: (readonly QueryValue[])[] = [];
  runQuery({ path, sql, rows: 100 }, (line) => {
    if ("columns" in line) columns = line.columns;
    if ("row" in line) found.push(line.row);
  });
  return { columns, rows: found, isCut: false, seconds: 0 };
}

function rows(sql: string): unknown {
  return select(sql).rows;
}

describe("views", () => {
  test.each(VIEWS.map((view) => [view.name, view] as const))(
    "%s has the columns of its description",
    (name, { columns }) => {
      const result = select(`select * from ${name}`);
      expect(result.columns).toEqual(columns.map((column) => column.name));
      expect(result.rows.length).toBeGreaterThan(0);
      for (const row of result.rows)
        row.forEach((value, i) =>
          expect(value === null ? "null" : typeof value).toMatch(TYPES[columns[i]?.type as keyof typeof TYPES]),
        );
    },
  );
  const TYPES = { text: /null|string/, json: /null|string/, integer: /null|number/, real: /null|number/ };

  test("v_episodes counts each episode once, and leaves out what was played anew or is not complete", () => {
    expect(
      rows("select run_step, purpose, state, count(*), avg(reward) from v_episodes group by 1, 2, 3 order by 1, 2"),
    ).toEqual([
      [1, "train", "refused", 2, 0.5],
      [1, "train", "taken", 2, 0.5],
      [2, "eval", "recorded", 2, 0.5],
      [2, "train", "taken", 4, 0.5],
      [3, "train", "ready", 4, 0.5],
    ]);
    expect(
      rows(
        "select run_step, state, count(*) from v_all_episodes where state in ('abandoned', 'incomplete') group by 1",
      ),
    ).toEqual([
      [2, "abandoned", 4],
      [4, "incomplete", 2],
    ]);
  });

  test("v_turns has text, reward and tokens of each turn", () => {
    expect(
      rows(
        "select distinct agent, text, reward, tokens, messages ->> '$[0].parts[0].text' from v_turns where run_step = 2 and member = 1 and purpose = 'train'",
      ),
    ).toEqual([["agent", "answer", 1, 3, "é 8"]]);
  });

  test("v_groups has the mean reward of each group, and the difficulty of its task", () => {
    expect(
      rows(
        "select run_step, task, difficulty, parts, scored, reward from v_groups where purpose = 'train' order by run_step, task",
      ),
    ).toEqual([1, 2, 3].flatMap((step) => ["train/0", "train/1"].map((task) => [step, task, 3, 2, 2, 0.5])));
  });

  test("v_steps, v_staleness, v_credits and v_metrics have the log of batches and what was learnt", () => {
    expect(
      rows("select step, state, groups, refused, refills, replays, version, tasks from v_steps order by step, state"),
    ).toEqual([
      [1, "applied", 2, 1, 0, 0, 1, '{"position":1}'],
      [2, "abandoned", 2, 0, 0, 0, 2, '{"position":2}'],
      [2, "taken", 2, 0, 0, 1, 2, '{"position":2}'],
    ]);
    expect(
      rows("select step, version, oldest_version, newest_version, max_age, parts, stale_parts from v_staleness"),
    ).toEqual([
      [1, 1, 7, 8, -6, 2, 0],
      [2, 2, 7, 8, -5, 4, 0],
    ]);
    expect(rows("select step, episode, agent, advantage, tokens from v_credits")).toEqual([
      [1, "0/policy/1/0/0/g0/0", "agent", 2, 3],
    ]);
    expect(rows("select step, stage, section, name, value from v_metrics")).toEqual([
      [1, "stage", "metrics", "reward/mean", 0.5],
      [1, "stage", "seconds", "total", 2],
    ]);
  });
});

describe("a query only reads", () => {
  const refused: readonly [sql: string, message: RegExp][] = [
    ["delete from episodes", /may only read/],
    ["create table t (a)", /may only read/],
    ["create temp table t (a)", /may only read/],
    ["attach '/tmp/mrlm-other.sqlite' as other", /may only read/],
    ["vacuum into '/tmp/mrlm-other.sqlite'", /may only read/],
    ["pragma journal_mode = delete", /may only read/],
    ["pragma query_only = 0", /may only read/],
    ["begin immediate", /may only read/],
    ["select load_extension('/tmp/mrlm.so')", /may only read|no such function/],
    ["select writefile('/tmp/mrlm-other', 'x')", /no such function: writefile/],
    ["select 1; delete from episodes", /text after the end of the first statement/],
    ["-- nothing", /is empty/],
    ["select rewrd from v_episodes", /no such column: rewrd/],
    ["select * from v_episode", /no such table: v_episode/],
    ["selct 1", /syntax error/],
  ];

  test.each(refused)("%s", (sql, message) => {
    let thrown: unknown;
    try {
      rows(sql);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "QUERY_INVALID",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\w{4}/),
    });
    expect(existsSync("/tmp/mrlm-other.sqlite")).toBe(false);
  });

  test("comments and a semicolon at the end are allowed", () => {
    expect(rows("select 1; -- one\n/* two */ ;\n")).toEqual([[1]]);
  });

  test("values that JSON lacks are text", () => {
    const { columns, rows: values } = select("select x'00ff' as a, 9007199254740993 as a, 1e999 as b, null");
    expect(columns).toEqual(["a", "a_2", "b", "null"]);
    expect(values).toEqual([["00ff", "9007199254740993", "Infinity", null]]);
  });

  const endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select";
  test("a result is cut after the limit of rows", async () => {
    const result = await queryStore({ path }, `${endless} i from n`, { ...LIMITS, rows: 3 });
    expect(result).toEqual({ columns: ["i"], rows: [[1], [2], [3]], isCut: true, seconds: expect.any(Number) });
  });

  test("a query that takes too long is ended", async () => {
    const query = queryStore({ path }, `${endless} count(*) from n`, { ...LIMITS, seconds: 1 });
    await expect(query).rejects.toMatchObject({
      code: "QUERY_LIMIT",
      message: expect.stringMatching(/longer than 1 s/),
    });
  });

  test("a query that needs too much memory is ended", async () => {
    const query = queryStore({ path }, `${endless} group_concat(i) from n`, {
      ...LIMITS,
      seconds: 100,
      megabytes: 150,
    });
    await expect(query).rejects.toMatchObject({
      code: "QUERY_LIMIT",
      message: expect.stringMatching(/more than 150 MB/),
    });
  });

  test("a closed store is left as it was, with no file beside it", async () => {
    const closed = join(folder, "closed");
    const other = new DatabaseSync(path);
    other.exec(`VACUUM INTO '${closed}'`);
    other.close();
    await queryStore({ path: closed }, "select count(*) from v_episodes", LIMITS);
    expect(readdirSync(folder).filter((name) => name.startsWith("closed"))).toEqual(["closed"]);
  });

  test("another database is refused", async () => {
    const other = join(folder, "other");
    new DatabaseSync(other).exec("create table t (a)");
    await expect(queryStore({ path: other }, "select 1", LIMITS)).rejects.toMatchObject({ code: "STORE_INVALID" });
    await expect(queryStore({ path: join(folder, "none") }, "select 1", LIMITS)).rejects.toMatchObject({
      code: "STORE_FAILED",
    });
  });
});
