import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeUtf8 } from "../src/data/decode-utf8.ts";
import { jsonlRows } from "../src/data/read-jsonl.ts";
import { readLines } from "../src/data/read-lines.ts";

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

test("N6: a file in Latin-1 is DATA_INVALID with its line, and no character is replaced", async () => {
  const path = join(folder, "latin1.jsonl");
  writeFileSync(path, Buffer.from('{"a":"x"}\n{"question":"caf\u00e9"}\n', "latin1"));
  const message = expect.stringContaining(`${path}:2: the line is not UTF-8`);
  await expect(Array.fromAsync(jsonlRows(path))).rejects.toMatchObject({ code: "DATA_INVALID", message });
});

test("N6: the first line that is not UTF-8 is named, for any bytes", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const bytes = Buffer.concat(lines.flatMap((part) => [part, Buffer.from("\n")]));
      const whole = bytes.toString("utf8");
      if (Buffer.from(whole).equals(bytes)) expect(decodeUtf8(bytes, "f")).toBe(whole.replace(/^\uFEFF/, ""));
      else {
        const parts = bytes.toString("latin1").split("\n");
        const first = parts.findIndex((part) => {
          const raw = Buffer.from(part, "latin1");
          return !Buffer.from(raw.toString("utf8")).equals(raw);
        });
        expect(() => decodeUtf8(bytes, "f")).toThrow(`f:${first + 1}: the line is not UTF-8`);
      }
    }),
  );
});
