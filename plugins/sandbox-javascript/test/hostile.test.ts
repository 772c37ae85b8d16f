import { afterAll, describe, expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora } from "@mrlm/testing";
import { makeSandbox } from "./support/make-sandbox.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

describe("hostile programs", () => {
  test("there are at least 80", () => {
    expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(80);
  });

  test.each(corpora)("$file: each ends as documented, and the next submission is as ever", async ({ programs }) => {
    expect(await hostileComplaints(sandbox, programs)).toEqual([]);
  }, 600_000);
});
