import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { problemsOfFiles } from "../src/services/publish/packed-files.ts";
import { PROBLEMS } from "../src/services/publish/problem.ts";
import { readTarball } from "../src/services/publish/tarball.ts";

describe("the files of a package", () => {
  const fields = { name: "x", mrlm: { entry: "./dist/index.js" }, dependencies: { zod: "4" } };
  const entry = "dist/index.js";
  const problems = async (files: Record<string, string | Buffer>, more: object = {}) =>
    (
      await problemsOfFiles(
        Object.entries({ [entry]: "", ...files }).map(([path, content]) => ({ path, content: Buffer.from(content) })),
        { ...fields, ...more },
      )
    ).map(({ code }) => code);

  test.each<[string, Record<string, string | Buffer>, string]>([
    ["variables", { ".env.local": "" }, "FILE_FORBIDDEN"],
    ["a key", { "certs/server.pem": "" }, "FILE_FORBIDDEN"],
    ["a configuration of npm", { ".npmrc": "" }, "FILE_FORBIDDEN"],
    ["installed packages", { "node_modules/zod/index.js": "" }, "FILE_FORBIDDEN"],
    ["tests", { "test/index.test.ts": "" }, "FILE_FORBIDDEN"],
    ["a private key in a text", { "data.txt": "-----BEGIN RSA PRIVATE KEY-----" }, "FILE_SECRET"],
    ["a large file", { "data.bin": Buffer.alloc(10_000_001) }, "FILE_LARGE"],
    ["an undeclared import", { "dist/a.js": "import { x } from 'undici/types';" }, "IMPORT_UNDECLARED"],
    ["an undeclared dynamic import", { "dist/a.js": "await import('@me/other/x.js');" }, "IMPORT_UNDECLARED"],
    ["an undeclared export", { "dist/a.js": "export * from 'other';" }, "IMPORT_UNDECLARED"],
  ])("%s", async (_name, files, code) => expect(await problems(files)).toEqual([code]));

  test("without its entry, or with one of TypeScript", async () => {
    expect(await problems({}, { mrlm: { entry: "./lib/index.js" } })).toEqual(["ENTRY_MISSING"]);
    expect(await problems({}, { mrlm: { entry: "./src/index.ts" } })).toEqual(["ENTRY_TYPESCRIPT"]);
  });

  test("declared, own, built-in and relative imports, and words in texts, are no problems", async () => {
    const source =
      "import 'zod'; import 'x/y'; import 'node:fs'; import fs from 'fs'; import './a.js'; // import 'b'\nconst t = \"import 'c'\";";
    expect(await problems({ "dist/a.js": source, "src/index.ts": "", "README.md": "" })).toEqual([]);
  });
});

test("a tarball with long paths is read whole", () => {
  const folder = mkdtempSync(join(tmpdir(), "mrlm-tarball-"));
  try {
    const name = `package/${"deep/".repeat(40)}file.txt`;
    writeFileSync(join(folder, "long.txt"), "content");
    const flags = ["--format=pax", "-cf", "a.tar", "--transform", `s|.*|${name}|`, "long.txt"];
    execFileSync("tar", flags, { cwd: folder });
    const files = readTarball(gzipSync(readFileSync(join(folder, "a.tar"))));
    expect(files.map(({ path, content }) => [path, String(content)])).toEqual([
      [name.replace("package/", ""), "content"],
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the guide has every problem", () => {
  const guide = readFileSync(new URL("../../../docs/guides/publishing.md", import.meta.url), "utf8");
  const listed = Array.from(guide.matchAll(/^\| `([A-Z_]+)` \|/gm), ([, code]) => code);
  expect(listed.sort()).toEqual(Object.keys(PROBLEMS).sort());
});
