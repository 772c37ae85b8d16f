import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { serveUi } from "@mrlm/ui";
import {
  type EpisodeFilter,
  type EpisodeList,
  EpisodeReader,
  LIST_COLUMNS,
  placeOfRun,
  queryStore,
  type QueryValue,
  type RunWorkers,
  type StorePlace,
  VIEWS,
} from "@mrlm/store";
import type { QueryLine } from "@mrlm/store/provider";
import {
  addUnusual,
  type FilledStore,
  filledStore,
  HALF,
  HOSTILE,
  runFileQuery,
} from "../../../../core/store/test/support/filled-store.ts";
import { runPostgresQuery } from "../../src/run-query.ts";
import { PLUGIN } from "./postgres-place.ts";

/** Tests that readers of a store in Postgres receive what those of a file receive. */
export function describeReaders(name: string, url: () => string): void {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-readers-"));
  const file = join(folder, "episodes.sqlite");
  const run = `readers-${process.pid}`;
  const place = (): StorePlace => ({ path: placeOfRun(url(), run), ...PLUGIN });
  const stores: FilledStore[] = [];
  beforeAll(() => {
    for (const each of [{ path: file }, { path: url(), ...PLUGIN }]) {
      const store = filledStore(each, run);
      stores.push(store);
      addUnusual(store);
    }
  });
  afterAll(() => {
    for (const store of stores) store.close();
    rmSync(folder, { recursive: true });
  });

  const ofFile = (sql: string): Promise<Found> =>
    found(async (write) => runFileQuery({ path: file, sql, rows: 1_000 }, write));
  const ofPostgres = (sql: string): Promise<Found> =>
    found((write) => runPostgresQuery({ ...place(), sql, rows: 1_000, seconds: 30 }, write));
  const both = <T>(read: (reader: EpisodeReader) => T): readonly [T, T] => {
    const [one, other] = [{ path: file }, place()].map((each) => {
      const reader = new EpisodeReader(each);
      try {
        return read(reader);
      } finally {
        reader.close();
      }
    });
    return [one as T, other as T];
  };

  describe(`readers of ${name}`, () => {
    test.each(VIEWS.map((view) => view.name))("%s has the rows of the file", async (view) => {
      const expected = await ofFile(`select * from ${view}`);
      const result = await ofPostgres(`select * from ${view}`);
      expect(result.columns).toEqual(expected.columns);
      expect(sorted(result)).toEqual(sorted(expected));
      expect(expected.rows.length).toBeGreaterThan(0);
    });

    test("a query reads members of JSON by their names", async () => {
      const sql = `select components ->> 'correct' as correct, info ->> 'salt' as salt, sum(tokens) as tokens, avg(reward) as mean
        from v_episodes where components ->> 'correct' is not null group by 1, 2 order by 1, 2`;
      const values = ({ rows }: Found): unknown => rows.map((row) => row.map(Number));
      expect(values(await ofPostgres(sql))).toEqual(values(await ofFile(sql)));
      const text = "select response -> 'parts' -> 0 ->> 'text' from v_turns where purpose = 'collect'";
      expect((await ofPostgres(text)).rows[0]).toEqual([HOSTILE]);
      const half = "select distinct info ->> 'half' from v_episodes where info ->> 'half' is not null";
      expect((await ofPostgres(half)).rows).toEqual([[HALF]]);
    });

    test.each([
      ["delete from episodes", /may only read: it begins with "delete"/],
      ["with gone as (delete from episodes returning key) select * from gone", /data-modifying statements in WITH/],
      ["select 1; delete from episodes", /text after the end of the first statement/],
      ["select nextval('cohorts_key_seq')", /read-only transaction/],
      ["select set_config('transaction_read_only', 'off', false)", /read-write mode/],
      ["select query_to_xml('delete from episodes', true, true, '')", /not allowed in a non-volatile function/],
      ["select * into other from episodes", /INTO/],
      ["select * from episodes for update", /read-only transaction/],
      ["copy (select 1) to '/tmp/mrlm-other'", /may only read/],
      ["-- nothing", /is empty/],
      ["select rewrd from v_episodes", /column "rewrd" does not exist/],
    ])("a query only reads: %s", async (sql, message) => {
      await expect(ofPostgres(sql)).rejects.toMatchObject({
        code: "QUERY_INVALID",
        message: expect.stringMatching(message),
      });
    });

    test("a run that is not in the database has no episodes", async () => {
      const none = runPostgresQuery(
        { path: placeOfRun(url(), "none"), sql: "select 1", rows: 1, seconds: 30 },
        () => undefined,
      );
      await expect(none).rejects.toMatchObject({ code: "EPISODE_NOT_FOUND" });
      const reader = new EpisodeReader({ path: placeOfRun(url(), "none"), ...PLUGIN });
      expect([reader.tasks(), reader.workers().members]).toEqual([[], []]);
      reader.close();
    });

    test("values that JSON lacks are text, comments are allowed, and a result is cut after the limit of rows", async () => {
      const sql =
        "( select '\\x00ff'::bytea as a, 9007199254740993 as a, 'Infinity'::float8 as b, null, true) -- one\n/* two */ ;\n";
      expect(await ofPostgres(sql)).toEqual({
        columns: ["a", "a_2", "b", "?column?", "?column?_2"],
        rows: [["00ff", "9007199254740993", "Infinity", null, 1]],
        isCut: false,
      });
      const endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select i from n";
      const cut = await found((write) =>
        runPostgresQuery({ ...place(), sql: endless, rows: 1_001, seconds: 30 }, write),
      );
      expect([cut.rows.length, cut.rows[1_000], cut.isCut]).toEqual([1_001, [1001], true]);
    });

    const filters: readonly EpisodeFilter[] = [
      {},
      { equal: { role: "agent", member: 1, state: "taken" } },
      { equal: { task: "train" }, within: { reward: [0.5, null], run_step: [0.5, 2] } },
      { components: { correct: [0.3, 1], [HOSTILE]: [null, 0] } },
      { outcome: "failed" },
      { outcome: "unscored", equal: { error: "x" } },
      { withoutSignal: true },
    ];
    test.each(filters)("a list has the parts and measures of the file: %j", (filter) => {
      const [expected, result] = both((reader) => reader.list({ filter, sort: "-reward", offset: 0, limit: 50 }));
      expect(result).toEqual(expected);
    });

    test("a list is sorted by each column, and its pages and choices are those of the file", () => {
      const [expected, result] = both((reader) => ({
        lists: LIST_COLUMNS.map(({ name: sort }) => reader.list({ filter: {}, sort, offset: 2, limit: 5 })),
        choices: reader.choices(),
      }));
      expect(result).toEqual(expected);
      expect(expected.choices["component"]).toEqual(["correct", HOSTILE]);
    });

    test("a process of its own runs a query, and the viewer shows the run of a directory whose record names the database", async () => {
      const limits = { rows: 9, seconds: 60, megabytes: 900 };
      const count = "select count(*) as n from v_all_episodes";
      const expected = await queryStore({ path: file }, count, limits);
      expect(await queryStore(place(), count, limits)).toEqual({ ...expected, seconds: expect.any(Number) });
      const directory = join(folder, "runs", "run");
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, "config.yaml"), "name: x\n");
      writeFileSync(join(directory, "run.json"), JSON.stringify({ id: run, status: "finished", store: place().path }));
      const server = await serveUi({ directories: [join(folder, "runs")], address: "127.0.0.1:0" });
      try {
        const read = async (path: string): Promise<unknown> =>
          (await fetch(`http://127.0.0.1:${server.port}/api/runs/run/${path}`)).json();
        const [list, workers] = both((reader) => [
          reader.list({ filter: { equal: { role: "agent" } }, sort: "member", offset: 0, limit: 7 }),
          reader.workers(),
        ])[0] as [EpisodeList, RunWorkers];
        expect(await read("episodes?role=agent&sort=member&limit=7")).toEqual(JSON.parse(JSON.stringify(list)));
        expect(await read("workers")).toMatchObject({ memberCount: 1, leaseCount: 1, staleness: workers.staleness });
        expect(await read("choices")).toMatchObject({ component: ["correct", HOSTILE] });
      } finally {
        await server.close();
      }
    }, 60_000);

    test("members, causes and tokens are those of the file", () => {
      const [expected, result] = both((reader) => [
        { ...reader.workers(), now: 0 },
        reader.failures(),
        reader.unscored(),
        [...reader.read({ purpose: "collect" })],
      ]);
      expect(result).toEqual(expected);
    });
  });
}

interface Found {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly QueryValue[])[];
  readonly isCut: boolean | undefined;
}

/** Collects the result of a query that runs in this process. */
async function found(run: (write: (line: QueryLine) => void) => Promise<void>): Promise<Found> {
  const rows: (readonly QueryValue[])[] = [];
  let columns: readonly string[] = [];
  let isCut: boolean | undefined;
  await run((line) => {
    if ("columns" in line) columns = line.columns;
    else if ("row" in line) rows.push(line.row);
    else if ("isCut" in line) ({ isCut } = line);
  });
  return { columns, rows, isCut };
}

function sorted({ rows }: Found): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}
