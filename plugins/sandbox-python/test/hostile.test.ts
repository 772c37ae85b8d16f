import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora, sampleOf } from "@mrlm/testing";
import { describeKinds } from "./support/kinds.ts";

const corpora = readCorpora(new URL("hostile/", import.meta.url));
const frames = corpora.filter(({ file }) => file === "frames.txt").flatMap(({ programs }) => programs);

test("there are at least 200 hostile programs", () => {
  expect(corpora.flatMap(({ programs }) => programs).length).toBeGreaterThanOrEqual(200);
});

// An attack on a name that does not exist fails for the wrong reason.
test("names of our Python modules in hostile programs exist", () => {
  const code = corpora.flatMap(({ programs }) => programs.map((program) => program.code)).join("\n");
  const attacked = [...code.matchAll(/"mrlm_sandbox\.(\w+)"\]\.(\w+)/g)];
  expect(attacked.length).toBeGreaterThan(20);
  for (const [, module, name] of attacked)
    expect(readFileSync(new URL(`../python/mrlm_sandbox/${module}.py`, import.meta.url), "utf8")).toMatch(
      new RegExp(`^(?:${name}(?: =|: )|def ${name}\\()`, "m"),
    );
});

// To run all of them: npm run test:faults -- sandbox-python.
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
