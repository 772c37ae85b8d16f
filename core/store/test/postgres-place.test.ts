import { expect, test } from "@jest/globals";
import { placeOfRun, queryStore, runOfStore, withoutPassword } from "../src/index.ts";

test("the place of a run names its database and the run, and messages leave its password out", async () => {
  const place = placeOfRun("postgres://user:pass-word@db.example:5433/episodes?sslmode=verify-full", "a-1");
  expect(runOfStore(place)).toBe("a-1");
  const shown = "postgres://user@db.example:5433/episodes?sslmode=verify-full&run=a-1";
  expect(withoutPassword(place)).toBe(shown);
  expect(withoutPassword(`${shown}&password=x`)).toBe(shown);
  expect(withoutPassword("runs/x/episodes.sqlite")).toBe("runs/x/episodes.sqlite");
  const limits = { rows: 1, seconds: 1, megabytes: 900 };
  await expect(queryStore(place, "select 1", limits)).rejects.toMatchObject({
    code: "STORE_UNSUPPORTED",
    message: expect.stringContaining(shown),
    hint: expect.stringContaining("in the schema mrlm_a_1"),
  });
});

test.each(["postgres://host", "postgres://host/", "mysql://host/db"])("%s names no database", (url) => {
  expect(() => placeOfRun(url, "a")).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});
