import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readBootImage, writeBootImage } from "../src/pyodide/boot-image.ts";
import { MemoryImage } from "../src/pyodide/memory-image.ts";
import { keepInUse, removeUnusedImages } from "../src/boot-image-file.ts";

const PAGE = 4096;
const folder = mkdtempSync(join(tmpdir(), "mrlm-boot-image-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Memory of pages that have one byte other than zero, or none. */
const memory = fc
  .array(fc.record({ at: fc.nat(PAGE - 1), byte: fc.nat(2) }), { minLength: 1, maxLength: 12 })
  .map((pages) => {
    const bytes = new Uint8Array(pages.length * PAGE);
    for (const [page, { at, byte }] of pages.entries()) bytes[page * PAGE + at] = byte;
    return bytes;
  });

test("an image that went through a file makes any memory what it was, and empties what it has grown by", () => {
  const path = join(folder, "some.image");
  fc.assert(
    fc.property(memory, fc.nat(3), fc.nat(2 ** 31 - 1), fc.nat(2 ** 31 - 1), (before, grown, stackPointer, handler) => {
      writeBootImage(path, { memory: MemoryImage.of(before), stackPointer, handler });
      const image = readBootImage(path);
      expect([image.stackPointer, image.handler]).toEqual([stackPointer, handler]);
      const now = new Uint8Array(before.length + grown * PAGE).fill(7);
      image.memory.restore(now, now.length);
      expect(Buffer.compare(now, Buffer.concat([before, new Uint8Array(grown * PAGE)]))).toBe(0);
    }),
    { numRuns: 50 },
  );
});

test("pages of zeros are not kept", () => {
  const bytes = new Uint8Array(100 * PAGE);
  bytes[50 * PAGE] = 1;
  expect(MemoryImage.of(bytes).runs.map((run) => [run.start / PAGE, run.end / PAGE, run.bytes?.length])).toEqual([
    [0, 50, undefined],
    [50, 51, PAGE],
    [51, 100, undefined],
  ]);
});

test("an image unused for a day is removed; one in use, and other files, stay", () => {
  const cache = mkdtempSync(join(tmpdir(), "mrlm-images-"));
  const old = new Date(Date.now() - 2 * 24 * 3_600_000);
  for (const name of ["pyodide-aa.image", "pyodide-bb.image", "pyodide-cc.image.12.part", "notes.txt"]) {
    writeFileSync(join(cache, name), "");
    utimesSync(join(cache, name), old, old);
  }
  writeFileSync(join(cache, "pyodide-dd.image"), "");
  keepInUse(join(cache, "pyodide-bb.image"));
  removeUnusedImages(cache);
  expect(readdirSync(cache).sort()).toEqual(["notes.txt", "pyodide-bb.image", "pyodide-dd.image"]);
  rmSync(cache, { recursive: true });
});
