import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { outputFile } from "../src/services/output-file.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-output-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const open = (name: string, overwrite = false): string => outputFile(name, { overwrite, besides: [".partial"] });
const refused = (name: string, code: string, message: RegExp, overwrite = false): void =>
  expect(() => open(name, overwrite)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(message) }),
  );

test("a place in which a file can be made is left as it was", () => {
  expect(open(join(directory, "new.json"))).toBe(join(directory, "new.json"));
  expect(readdirSync(directory)).toEqual([]);
});

test("an existing file is refused, and a directory or a device even with --overwrite", () => {
  const [folder, file] = [join(directory, "folder"), join(directory, "file.json")];
  mkdirSync(folder);
  mkdirSync(join(directory, "taken.jsonl.partial"));
  writeFileSync(file, "");
  refused(folder, "USAGE", /is a directory/, true);
  refused(join(directory, "taken.jsonl"), "USAGE", /taken\.jsonl\.partial is a directory/);
  refused(file, "USAGE", /already exists/);
  expect(open(file, true)).toBe(file);
  refused(join(file, "deeper.json"), "USAGE", /There is no directory/);
  refused(join(directory, "none", "x.json"), "USAGE", /There is no directory/);
  if (existsSync("/dev/null")) refused("/dev/null", "USAGE", /no ordinary file/, true);
});

(existsSync("/proc/self") ? test : test.skip)(
  "a directory that no file can be made in is OUTPUT_INVALID (skipped where there is no /proc)",
  () => {
    refused("/proc/result.json", "OUTPUT_INVALID", /cannot be written: [^/]*$/);
  },
);
