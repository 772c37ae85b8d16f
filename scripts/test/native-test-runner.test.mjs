import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { root } from "../lib/repository.mjs";

const folder = mkdtempSync(join(tmpdir(), "mrlm-runner-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Bodies of test files by their names, with the statuses of their tests and of the file. */
const FILES = {
  passes: ["test('a', () => expect(1).toBe(1)); test.todo('b');", "passed,todo", "passed"],
  fails: ["test('a', () => expect(1).toBe(2)); test('b', () => sleep(0));", "failed,passed", "failed"],
  ends: ["test('a', () => new Promise(() => undefined), 20);", "failed", "failed"],
  rejects: ["test('a', async () => { void Promise.reject(new Error('a')); await sleep(9); });", "failed", "failed"],
  throws: [
    "test('a', async () => { setTimeout(() => { throw new Error('a'); }); await sleep(9); });",
    "failed",
    "failed",
  ],
  hook: ["test('a', () => sleep(0)); afterAll(() => { throw new Error('a'); });", "passed", "failed"],
  late: [
    "test('a', () => sleep(0)); afterAll(async () => { void Promise.reject(new Error('a')); await sleep(9); });",
    "passed",
    "failed",
  ],
  lacks: ["await import('./none.mjs'); test('a', () => sleep(0));", "", "failed"],
};
const IMPORTS = `import { afterAll, expect, test } from "@jest/globals"; import { setTimeout as sleep } from "node:timers/promises";`;

test("a test file fails by a test, a hook, an error or a rejection that nothing handles, and a module that is not there", () => {
  for (const [name, [body]] of Object.entries(FILES))
    writeFileSync(join(folder, `${name}.test.mjs`), `${IMPORTS}\n${body}\n`);
  const report = join(folder, "report.json");
  const config = {
    rootDir: folder,
    testMatch: ["**/*.test.mjs"],
    moduleFileExtensions: ["mjs", "js", "json"],
    testRunner: join(root, "scripts", "lib", "native-test-runner.mjs"),
    transform: {},
  };
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  spawnSync(process.execPath, [jest, "-i", "--config", JSON.stringify(config), "--json", `--outputFile=${report}`]);
  const found = JSON.parse(readFileSync(report, "utf8")).testResults.map((/** @type {any} */ file) => {
    const statuses = file.assertionResults.map((/** @type {any} */ { status }) => status);
    return [basename(file.name, ".test.mjs"), [statuses.join(","), file.status]];
  });
  const expected = Object.entries(FILES).map(([name, [, ...statuses]]) => [name, statuses]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
});
