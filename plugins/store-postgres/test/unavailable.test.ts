import { expect, test } from "@jest/globals";
import { placeOfRun, queryStore } from "@mrlm/store";
import { PostgresDescription } from "../src/run.ts";
import { PLUGIN } from "./support/postgres-place.ts";

test("a query of a server that does not answer has a code, and names no password", async () => {
  const place = "postgres://user:pass-word@127.0.0.1:1/episodes";
  const limits = { rows: 1, seconds: 60, megabytes: 900 };
  const shown = "postgres://user@127.0.0.1:1/episodes?run=a-1";
  await expect(queryStore({ path: placeOfRun(place, "a-1"), ...PLUGIN }, "select 1", limits)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(`${shown} does not answer`),
  });
  await expect(queryStore({ path: place, ...PLUGIN }, "select 1", limits)).rejects.toMatchObject({ code: "USAGE" });
});

test("the wait of a worker for a server that does not answer ends with a stop", async () => {
  const description = new PostgresDescription("postgres://127.0.0.1:1/x?run=1");
  const reading = description.read({ waitMs: 60_000, stop: AbortSignal.abort() });
  await expect(reading).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(() => new PostgresDescription("postgres://127.0.0.1:1/x")).toThrow(
    expect.objectContaining({ code: "USAGE", message: expect.stringContaining("names no run") }),
  );
});
