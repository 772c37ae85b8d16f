import { expect, test } from "@jest/globals";
import { wrongFiles } from "../lib/packed.mjs";

const manifest = {
  files: ["bin", "dist", "src", "!dist/.tsbuildinfo"],
  bin: { tool: "./bin/tool.js" },
  exports: { ".": { types: "./dist/index.d.ts", import: "./dist/index.js" }, "./package.json": "./package.json" },
};
const files = [
  "package.json",
  "README.md",
  "LICENSE",
  "bin/tool.js",
  "dist/index.js",
  "dist/index.d.ts",
  "src/index.ts",
];

test("a package with the files that it names, and nothing else", () => {
  expect(wrongFiles(manifest, files)).toEqual([]);
});

test.each([
  ["lacks LICENSE", files.filter((file) => file !== "LICENSE")],
  ["lacks dist/index.js", files.filter((file) => file !== "dist/index.js")],
  ["holds dist/.tsbuildinfo", [...files, "dist/.tsbuildinfo"]],
  ["holds src/index.test.ts", [...files, "src/index.test.ts"]],
  ["holds src/test/support.ts", [...files, "src/test/support.ts"]],
  ["holds .env", [...files, ".env"]],
  ["holds notes.md", [...files, "notes.md"]],
  ["holds dist/old.d.ts of a source that no longer exists: remove dist and build again", [...files, "dist/old.d.ts"]],
])("%s", (difference, packed) => {
  expect(wrongFiles(manifest, packed)).toEqual([difference]);
});

test("an entry of `files` without a file, and a plugin without its entry", () => {
  const plugin = { ...manifest, files: [...manifest.files, "python"], mrlm: { entry: "./dist/plugin.js" } };
  expect(wrongFiles(plugin, files)).toEqual(["lacks dist/plugin.js", "lists python, which is empty"]);
});
