import { expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora, sampleOf } from "@mrlm/testing";
import { describeKinds } from "./support/kinds.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));
const frames = corpora.filter(({ file }) => file === "frames.txt").flatMap(({ programs }) => programs);

test("there are at least 200 hostile programs", () => {
  expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(200);
});

// All of them: npm run test:faults -- sandbox-python.
describeKinds("hostile programs in Python", (sandbox) => {
  test("S3: a frame that a submission writes is a verdict against it, and never the sandbox's failure (a sample)", async () => {
    expect(frames.length).toBeGreaterThan(6);
    expect(await hostileComplaints(sandbox(), sampleOf(frames, 6))).toEqual([]);
  }, 600_000);

  test.each(corpora.filter(({ file }) => file !== "frames.txt"))(
    "$file: each of a sample ends as documented, and the next submission is not affected",
    async ({ programs }) => {
      expect(await hostileComplaints(sandbox(), sampleOf(programs, 6))).toEqual([]);
    },
    600_000,
  );
});
