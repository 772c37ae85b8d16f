import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { entriesOf } from "../lib/entries.mjs";
import { fingerprint } from "../lib/fingerprint.mjs";

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "build-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** @param {string} name @param {string} text */
function write(name, text) {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe("entriesOf", () => {
  test("exports, commands and listed processes are bundled, each from the source of its name", () => {
    const manifest = {
      exports: { ".": { types: "./dist/index.d.ts", import: "./dist/index.js" }, "./package.json": "./package.json" },
      bin: { command: "./dist/main.js" },
      tsup: { entry: ["src/child.ts"] },
    };
    const sources = ["index", "main", "child", "other"].map((name) => [name, write(`src/${name}.ts`, "")]);
    expect(entriesOf({ path: folder, manifest })).toEqual(Object.fromEntries(sources.slice(0, 3)));
  });

  test("a package without sources has nothing to bundle", () => {
    const manifest = { exports: { ".": { import: "./dist/index.js" } } };
    expect(entriesOf({ path: folder, manifest })).toEqual({});
  });
});

describe("fingerprint", () => {
  test("changes with a content, a name and a new file, and with nothing else", () => {
    const file = write("src/a.ts", "1");
    const before = fingerprint([folder]);
    expect(fingerprint([folder])).toBe(before);
    writeFileSync(file, "2");
    expect(fingerprint([folder])).not.toBe(before);
    writeFileSync(file, "1");
    expect(fingerprint([folder])).toBe(before);
    write("src/b.ts", "");
    expect(fingerprint([folder])).not.toBe(before);
  });

  test("outputs and installed packages do not count", () => {
    write("src/a.ts", "1");
    const before = fingerprint([folder]);
    write("dist/a.js", "1");
    write("node_modules/b/index.js", "1");
    expect(fingerprint([folder])).toBe(before);
  });
});
