import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import type { Finding } from "@mrlm/testing";
import { checkPackage, findPackage } from "../src/services/check-package.ts";
import { BROKEN, BROKEN_PROVIDERS, findingsOf, findingsWithProvider, statedDefect } from "./support/broken-plugins.ts";

const BROKEN_ENTRY = fileURLToPath(new URL("../../testing/fixtures/broken/keyword-missing/index.js", import.meta.url));

/** A sample of the broken plugins. `npm run test:faults -- broken` checks all of them. */
const SAMPLE = [
  [
    "import-throws",
    /^index\.js:1: The entry of plugin import-throws .* TypeError: Cannot destructure property 'limit'/,
  ],
  ["import-exits", /^The process ended with exit code 0 during its import\.$/],
  ["import-prints", /^It printed 10\.0 MiB, beginning with "#{60}"\.$/],
  [
    "changes-prototype",
    /^index\.js:1: Its code changed Array\.prototype\.last, which all code of the process shares\.$/,
  ],
  [
    "newer-api",
    /^package\.json:\d+: Plugin newer-api was made for version 2 of the plugin interface; this mrlm \(0\.1\.0\) supports version 1\.$/,
  ],
  ["example-described", /^README\.md is of the example "Replace each letter .*", which the plugin no longer has\.$/],
  [
    "reads-variable",
    /^index\.js:12: The actions of fixture "\S+" were played with GRADING=lenient, and the result of turn 1 .* Its code reads process\.env\.GRADING\.$/,
  ],
  ["requirement-missing", /^index\.js:6: Environment essay@1 requires scorer "essay@1", which no plugin provides\.$/],
] as const;

test.each(SAMPLE)("the check of %s survives it, and names its defect with the place", async (name, text) => {
  const findings = await findingsOf(name, { quick: true });
  expect(findings.map(({ code }) => code)).toEqual([statedDefect(name).expects]);
  const [{ place, message }] = findings as [Finding];
  expect(place === undefined ? message : `${place.file}:${place.line}: ${message}`).toMatch(text);
});

test.each([
  ["a link out of the package", "index.js", BROKEN_ENTRY, /entry of \S+ is a link to .*index\.js\.$/],
  ["a link to a file of the package", "index.js", "./file.js", /entry of \S+ is a link to .*file\.js\.$/],
  ["in a linked folder", "lib", "./dist", /entry of \S+ is in lib, a link to .*dist\.$/],
])("U13: an entry that is %s is named", async (_name, link, target, message) => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-linked-"));
  const json = JSON.parse(readFileSync(join(dirname(BROKEN_ENTRY), "package.json"), "utf8")) as { mrlm: object };
  const entry = link === "lib" ? "./lib/index.js" : "./index.js";
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ ...json, exports: entry, mrlm: { ...json.mrlm, entry } }),
  );
  mkdirSync(join(folder, "dist"));
  for (const copy of ["file.js", "dist/index.js"]) cpSync(BROKEN_ENTRY, join(folder, copy));
  symlinkSync(target, join(folder, link));
  const findings: Finding[] = [];
  for await (const each of checkPackage(findPackage(folder, folder), { quick: true }))
    if (each.event === "finding") findings.push(each.finding);
  rmSync(folder, { recursive: true });
  expect(findings).toMatchObject([{ code: "MANIFEST_INVALID", message: expect.stringMatching(message) }]);
});

test("a package that is no plugin, and a folder without a package, are errors", () => {
  const here = new URL("..", import.meta.url).pathname;
  expect(() => findPackage(".", here)).toThrow('Package @mrlm/cli is no plugin: its package.json has no "mrlm" field.');
  expect(() => findPackage("src", here)).toThrow('There is no package "src".');
  expect(BROKEN.length).toBeGreaterThan(10);
});

test("a required plugin that cannot be loaded is named, in place of what follows from it", async () => {
  const [[code, text]] = Object.entries(BROKEN_PROVIDERS) as [[string, string]];
  expect(await findingsWithProvider(code)).toMatchObject([
    { code: "REQUIREMENT_MISSING", message: expect.stringContaining(text) },
  ]);
});
