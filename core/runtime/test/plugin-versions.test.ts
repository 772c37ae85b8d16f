import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readPluginPackage } from "@mrlm/runtime";

const directory = mkdtempSync(join(tmpdir(), "mrlm-versions-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Reads a package that requires a range of `@mrlm/spec`. None of its code exists. */
function read(range: string, changes: object = {}) {
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["scorer:exact@1"], ...changes };
  const json = { name: "exact", version: "1.2.3", mrlm, peerDependencies: { "@mrlm/spec": range } };
  writeFileSync(join(directory, "package.json"), JSON.stringify(json));
  return readPluginPackage(directory);
}

test.each([
  ["^9.0.0", {}, /exact requires @mrlm\/spec \^9\.0\.0; this mrlm has 0\./, /npm install @mrlm\/cli@latest/],
  // A kind and a key that only a newer mrlm knows are not the fault.
  [
    ">=0.9.0 <2",
    { provides: ["oracle:exact@1"], colours: true },
    /requires @mrlm\/spec >=0\.9\.0 <2/,
    /@mrlm\/cli@latest/,
  ],
  ["0.0.9", {}, /requires @mrlm\/spec 0\.0\.9/, /npm install exact@latest/],
])(
  "a plugin for @mrlm/spec %s is refused with both versions and the command to run",
  (range, changes, message, hint) => {
    expect(() => read(range, changes)).toThrow(
      expect.objectContaining({
        code: "PLUGIN_API_VERSION",
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      }),
    );
  },
);

test.each(["^0.1.0", "0.x", "*", "workspace:*", "file:../spec", ">=0.1.0-beta.1"])("a range that fits: %s", (range) => {
  expect(read(range)?.manifest.provides).toEqual(["scorer:exact@1"]);
});
