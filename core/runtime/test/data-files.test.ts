import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { DataFiles, RecordedFiles } from "../src/host/data-files.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-data-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const root = join(directory, "shared");
mkdirSync(root);
writeFileSync(join(root, "in.jsonl"), "");
writeFileSync(join(directory, "out.jsonl"), "");
symlinkSync(join(directory, "out.jsonl"), join(root, "link.jsonl"));

describe("files that options may name", () => {
  const files = new DataFiles(root);

  test.each(["in.jsonl", "./in.jsonl", "not-there.jsonl", "..strange/in.jsonl", join(root, "in.jsonl")])(
    "%s is below the root",
    (path) => {
      expect(files.pathOf(path)).toBe(resolve(root, path));
    },
  );

  test.each(["../out.jsonl", "..", join(directory, "out.jsonl"), "a/../../out.jsonl", "link.jsonl", "/etc/passwd"])(
    "%s is not",
    (path) => {
      expect(() => files.pathOf(path)).toThrow(expect.objectContaining({ code: "DATA_FORBIDDEN" }));
    },
  );

  test("without a root every file is open", () => {
    expect(new DataFiles().pathOf("/etc/passwd")).toBe("/etc/passwd");
    expect(new DataFiles().pathOf("a.jsonl")).toBe(resolve("a.jsonl"));
    expect(new DataFiles(undefined, directory).pathOf("a.jsonl")).toBe(join(directory, "a.jsonl"));
    expect(new DataFiles(undefined, directory).pathOf("/etc/passwd")).toBe("/etc/passwd");
  });
});

test("M12: files and folders that were named differ by their contents", async () => {
  const folder = join(directory, "rows");
  mkdirSync(join(folder, "below"), { recursive: true });
  const hashes = async () => {
    const recorded = new RecordedFiles(new DataFiles(undefined, directory));
    for (const path of ["out.jsonl", "rows", "not-there"]) recorded.pathOf(path);
    return recorded.hashes();
  };
  const before = await hashes();
  expect(before).toEqual({ "out.jsonl": expect.stringMatching(/^\w{64}$/), rows: expect.stringMatching(/^\w{64}$/) });
  expect(await hashes()).toEqual(before);
  writeFileSync(join(folder, "below", "a"), "x");
  expect((await hashes())?.["rows"]).not.toBe(before?.["rows"]);
  expect(await new RecordedFiles(new DataFiles()).hashes()).toBeUndefined();
});

test("M12: what is no stored file, such as a device without an end, has no hash", async () => {
  const recorded = new RecordedFiles(new DataFiles(undefined, directory));
  recorded.pathOf("/dev/zero");
  expect(await recorded.hashes()).toBeUndefined();
});
