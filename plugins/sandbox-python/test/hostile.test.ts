import { expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora, sampleOf } from "@mrlm/testing";
import { describeKinds } from "./support/kinds.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));

test("there are at least 200 hostile programs", () => {
  expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(200);
});

// All of them: npm run test:faults -- sandbox-python.
describeKinds("hostile programs in Python", (sandbox) => {
  test.each(corpora)("$file: each of a sample ends as documented, and the next submission is not affected", async ({ programs }) => {
    expect(await hostileComplaints(sandbox(), sampleOf(programs, 6))).toEqual([]);
  }, 600_000);
});
