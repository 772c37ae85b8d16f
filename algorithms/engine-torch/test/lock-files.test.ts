import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { pythonDirectory } from "../src/package-directory.ts";
import { EXTRAS, lockFiles, type Part } from "../src/setup/lock-files.ts";
import { TORCH_VERSION } from "../src/torch/torch-build.ts";

const directory = join(pythonDirectory(), "requirements");
const locks = lockFiles(directory);
const parts: readonly Part[] = ["torch", "base", ...EXTRAS];

/** Returns the name, version and number of hashes of each entry. */
function entriesOf(part: Part): { name: string; version: string; hashes: number }[] {
  const entries = readFileSync(locks.path(part), "utf8")
    .split(/\n(?=[a-z0-9])/)
    .slice(1);
  return entries.map((entry) => {
    const [, name = "", version = ""] = /^([\w.-]+)==([^\s;\\]+)/.exec(entry) ?? [];
    return { name, version, hashes: entry.match(/--hash=sha256:[0-9a-f]{64}/g)?.length ?? 0 };
  });
}

test("every package has one exact version and at least one hash", () => {
  const entries = parts.flatMap(entriesOf);
  expect(entries.length).toBeGreaterThan(60);
  expect(entries.filter(({ name, version, hashes }) => name === "" || version === "" || hashes === 0)).toEqual([]);
  expect(new Set(entries.map(({ name }) => name)).size).toBe(entries.length);
});

test("torch is the version that the source names, and no other part brings CUDA", () => {
  expect(entriesOf("torch")).toContainEqual(expect.objectContaining({ name: "torch", version: TORCH_VERSION }));
  expect(readFileSync(join(directory, "base.in"), "utf8")).toContain(`torch==${TORCH_VERSION}\n`);
  const others = parts.filter((part) => part !== "torch").flatMap(entriesOf);
  expect(others.filter(({ name }) => /^(torch|triton|nvidia-|cuda-)/.test(name))).toEqual([]);
});

test("what was asked for is locked", () => {
  for (const part of ["base", ...EXTRAS] as const) {
    const wanted = readFileSync(join(directory, `${part}.in`), "utf8")
      .split("\n")
      .filter((line) => /^[a-z]/.test(line));
    const locked = [...entriesOf("torch"), ...entriesOf(part)].map(({ name }) => name);
    expect(locked).toEqual(expect.arrayContaining(wanted.map((line) => line.split("==")[0])));
  }
});
