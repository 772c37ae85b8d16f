import { expect, test } from "@jest/globals";
import { placeOfRun, queryStore, runOfStore, withoutPassword } from "../src/index.ts";

test("the place of a run names its database and the run, and messages leave its password out", () => {
  const place = placeOfRun("postgres://user:pass-word@db.example:5433/episodes?sslmode=verify-full", "a-1");
  expect(runOfStore(place)).toBe("a-1");
  const shown = "postgres://user@db.example:5433/episodes?sslmode=verify-full&run=a-1";
  expect(withoutPassword(place)).toBe(shown);
  expect(withoutPassword(`${shown}&password=x`)).toBe(shown);
  expect(withoutPassword("runs/x/episodes.sqlite")).toBe("runs/x/episodes.sqlite");
});

test("a query of a server that does not answer has a code, and names no password", async () => {
  const place = "postgres://user:pass-word@127.0.0.1:1/episodes";
  const limits = { rows: 1, seconds: 60, megabytes: 900 };
  const shown = "postgres://user@127.0.0.1:1/episodes?run=a-1";
  await expect(queryStore(placeOfRun(place, "a-1"), "select 1", limits)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(`${shown} does not answer`),
  });
  await expect(queryStore(place, "select 1", limits)).rejects.toMatchObject({ code: "USAGE" });
});

test.each(["postgres://host", "postgres://host/", "mysql://host/db"])("%s names no database", (url) => {
  expect(() => placeOfRun(url, "a")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
