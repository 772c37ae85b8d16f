import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readLines } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-lines-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const linesOf = (text: string): Promise<string[]> => {
  const path = join(folder, "text");
  writeFileSync(path, text);
  return Array.fromAsync(readLines(path));
};

test("lines end at newlines alone, wherever the file is cut into blocks", async () => {
  const character = fc.constantFrom("a", "é", "😀", "\n", "\r", "\u2028", "\u2029", "x".repeat(40_000));
  await fc.assert(
    fc.asyncProperty(fc.array(character), async (characters) => {
      const text = characters.join("");
      const lines = text.split("\n");
      expect(await linesOf(text)).toEqual(lines.at(-1) === "" ? lines.slice(0, -1) : lines);
    }),
  );
});

test("a byte order mark is no part of the first line; a file that is not there rejects", async () => {
  expect(await linesOf("\uFEFFa\n\uFEFFb")).toEqual(["a", "\uFEFFb"]);
  await expect(Array.fromAsync(readLines(join(folder, "none")))).rejects.toMatchObject({ code: "ENOENT" });
});
