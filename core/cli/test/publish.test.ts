import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { linkedDependencies } from "../src/services/publish/examine-package.ts";
import { problemsOfFiles } from "../src/services/publish/packed-files.ts";
import { PROBLEMS } from "../src/services/publish/problem.ts";
import { registryState } from "../src/services/publish/registry-state.ts";
import { readTarball } from "../src/services/publish/tarball.ts";
import { startRegistry } from "./support/npm-registry.ts";

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
    ["a private key of PGP", { "data.txt": "-----BEGIN PGP PRIVATE KEY BLOCK-----" }, "FILE_SECRET"],
    ["a token of a model's provider", { "dist/a.js": `const k = "sk-proj-${"aB3_".repeat(12)}";` }, "FILE_SECRET"],
    ["passwords", { ".netrc": "" }, "FILE_FORBIDDEN"],
    ["types of a test", { "dist/index.test.d.ts": "" }, "FILE_FORBIDDEN"],
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

test.each([
  ["file:../a", true],
  ["../a", true],
  ["~/a", true],
  ["workspace:^", true],
  ["link:../a", true],
  ["github:me/a", true],
  ["me/a#main", true],
  ["git@github.com:me/a.git", true],
  ["git+ssh://git@github.com/me/a", true],
  ["https://example.com/a.tgz", true],
  ["catalog:", true],
  ["~1.2.0", false],
  ["^1.2.0 || >=3 <4", false],
  ["*", false],
  ["", false],
  ["next", false],
  ["npm:@me/a@^1.0.0", false],
])("a dependency on %j: linked %p", (spec, isLinked) => {
  expect(linkedDependencies({ dependencies: { a: spec } }).map(({ code }) => code)).toEqual(
    isLinked ? ["DEPENDENCY_LINKED"] : [],
  );
});

test("the registry of the scope, and of publishConfig, is asked", async () => {
  const [registry, other] = [await startRegistry(), await startRegistry()];
  const folder = mkdtempSync(join(tmpdir(), "mrlm-scope-"));
  try {
    other.refuse(403);
    const host = registry.url.replace("http:", "");
    const npmrc = `registry=${other.url}\n@me:registry=${registry.url}\n${host}/:_authToken=secret\n`;
    writeFileSync(join(folder, ".npmrc"), npmrc);
    writeFileSync(join(folder, "package.json"), "{}");
    const publishConfig = { registry: registry.url };
    for (const fields of [{ name: "@me/chess" }, { name: "chess", publishConfig }]) {
      registry.add({ name: fields.name, version: "1.0.0" }, Buffer.of());
      const { latest, problems } = await registryState({ version: "1.0.0", ...fields }, folder);
      expect([latest, problems.map(({ code }) => code)]).toEqual(["1.0.0", ["VERSION_TAKEN"]]);
    }
    expect(registry.requests.filter((request) => request.includes("whoami"))).toHaveLength(2);
    expect(other.requests).toEqual([]);
  } finally {
    registry.close();
    other.close();
    rmSync(folder, { recursive: true, force: true });
  }
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
  const guide = readFileSync(new URL("../../../docs/build/publishing.md", import.meta.url), "utf8");
  const listed = Array.from(guide.matchAll(/^- `([A-Z_]+)`: /gm), ([, code]) => code);
  expect(listed.sort()).toEqual(Object.keys(PROBLEMS).sort());
});
