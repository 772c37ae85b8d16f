import { expect, test } from "@jest/globals";
import {
  checkEpisodeStore,
  EpisodeReader,
  openEpisodeStore,
  placeOfRun,
  queryStore,
  runOfStore,
  withoutPassword,
} from "../src/index.ts";

test("the place of a run names its database and the run, and messages leave its password out", () => {
  const place = placeOfRun("postgres://user:pass-word@db.example:5433/episodes?sslmode=verify-full", "a-1");
  expect(runOfStore(place)).toBe("a-1");
  const shown = "postgres://user@db.example:5433/episodes?sslmode=verify-full&run=a-1";
  expect(withoutPassword(place)).toBe(shown);
  expect(withoutPassword(`${shown}&password=x`)).toBe(shown);
  expect(withoutPassword("runs/x/episodes.sqlite")).toBe("runs/x/episodes.sqlite");
});

test("a database without a plugin that opens it: every way to open it is an error that names the package, and names no password", async () => {
  const path = placeOfRun("postgres://user:pass-word@db.example/episodes", "a-1");
  const error: object = expect.objectContaining({
    code: "PLUGIN_NOT_FOUND",
    message: expect.stringContaining("postgres://user@db.example/episodes?run=a-1 is in Postgres"),
    hint: expect.stringContaining("`npm install @mrlm/store-postgres`"),
  });
  const limits = { rows: 1, seconds: 60, megabytes: 900 };
  await expect(openEpisodeStore({ path, purpose: "train", endsLeases: false })).rejects.toEqual(error);
  await expect(queryStore({ path }, "select 1", limits)).rejects.toEqual(error);
  expect(() => new EpisodeReader({ path })).toThrow(error);
  expect(() => checkEpisodeStore({ path }, "a-1")).toThrow(error);
});

test("a plugin whose module throws is named", () => {
  const place = {
    path: "postgres://user@db.example/episodes?run=a-1",
    plugin: new URL("none.js", import.meta.url).href,
  };
  expect(() => new EpisodeReader(place)).toThrow(
    expect.objectContaining({ code: "PLUGIN_LOAD_FAILED", message: expect.stringContaining("none.js") }),
  );
});

test.each(["postgres://host", "postgres://host/", "mysql://host/db"])("%s names no database", (url) => {
  expect(() => placeOfRun(url, "a")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
