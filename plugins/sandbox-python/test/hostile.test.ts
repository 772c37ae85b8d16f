import { expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora } from "@mrlm/testing";
import { describeKinds } from "./support/kinds.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));

test("there are at least 200 hostile programs", () => {
  expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(200);
});

describeKinds("hostile programs in Python", (sandbox) => {
  test.each(corpora)("$file: each ends as documented, and the next submission is as ever", async ({ programs }) => {
    expect(await hostileComplaints(sandbox(), programs)).toEqual([]);
  }, 600_000);
});
