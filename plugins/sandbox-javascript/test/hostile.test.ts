import { afterAll, describe, expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora, sampleOf } from "@mrlm/testing";
import { makeSandbox } from "./support/make-sandbox.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

describe("hostile programs", () => {
  test("there are at least 80", () => {
    expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(80);
  });

  // To run all of them: npm run test:faults -- sandbox-javascript.
  test.each(corpora)(
    "$file: each of a sample ends as documented, and the next submission is not affected",
    async ({ programs }) => {
      expect(await hostileComplaints(sandbox, sampleOf(programs, 6))).toEqual([]);
    },
    600_000,
  );
});
