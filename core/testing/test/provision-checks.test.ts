import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { checkPlugin } from "../src/index.ts";

/** Broken plugins whose checks are quick. `npm run test:faults -- broken` checks all of them in processes. */
const BROKEN = [
  "algorithm-miscounts",
  "examples-missing",
  "examples-unknown",
  "judge-counts-calls",
  "judge-not-finite",
  "judge-other-agent",
  "judge-wrong-winner",
  "policy-open-options",
  "policy-other-agent",
  "policy-unseeded",
  "sandbox-unknown-language",
  "scorer-bad-reference-is-zero",
  "scorer-changes-request",
  "scorer-example-differs",
  "scorer-failure-is-zero",
  "scorer-not-finite",
  "scorer-remembers",
  "scorer-text-is-unscored",
  "scorer-throws",
  "scorer-unavailable",
  "scorer-unreadable-is-unscored",
  "scorer-unreadable-pays",
  "scorer-unstable",
  "tool-call-fails",
  "tool-shared-state",
  "tool-unseeded",
  "tool-without-description",
];

test.each(BROKEN)("the check of %s reports its defect and nothing else", async (name) => {
  const directory = new URL(`../fixtures/broken/${name}/`, import.meta.url);
  const packageJson = JSON.parse(readFileSync(new URL("package.json", directory), "utf8"));
  const { default: plugin } = await import(new URL("index.js", directory).href);
  const codes: string[] = [];
  for await (const event of checkPlugin({ directory: directory.pathname, packageJson, plugin, plugins: [plugin] }))
    if (event.event === "finding") codes.push(event.finding.code);
  expect(codes).toEqual([packageJson.expects]);
});
