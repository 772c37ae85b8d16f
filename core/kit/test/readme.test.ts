import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import * as http from "../src/http.ts";
import * as index from "../src/index.ts";
import * as learning from "../src/learning.ts";
import * as options from "../src/options.ts";
import * as renderer from "../src/renderer.ts";
import * as service from "../src/service.ts";

const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");

test.each([
  ["@mrlm/kit", index],
  ["@mrlm/kit/http", http],
  ["@mrlm/kit/learning", learning],
  ["@mrlm/kit/options", options],
  ["@mrlm/kit/renderer", renderer],
  ["@mrlm/kit/service", service],
])("U12: README.md lists every export of %s and no other", (entry, exports) => {
  const section = read("../README.md").split(`## \`${entry}\`\n`)[1] as string;
  const table = section.split(/\n\n[^|]/)[0] as string;
  const listed = [...table.matchAll(/`(\w+)(?:\([^)]*\))?`/g)].map(([, name]) => name as string);
  expect(listed.toSorted()).toEqual(Object.keys(exports).toSorted());
});

test("an environment that imports @mrlm/kit loads no tokenizer; @mrlm/kit/renderer does", () => {
  expect(packagesOf("index.ts")).toEqual(["@mrlm/spec", "@mrlm/spec/host", "zod"]);
  expect(packagesOf("learning.ts")).toEqual(["@mrlm/spec", "@mrlm/spec/host", "zod"]);
  expect(packagesOf("http.ts")).toEqual(["@mrlm/spec"]);
  expect(packagesOf("service.ts")).toEqual(["@mrlm/spec"]);
  expect(packagesOf("renderer.ts")).toContain("@huggingface/tokenizers");
});

/** Returns the packages that a file of src imports, itself or through others of src, in order. */
function packagesOf(entry: string): string[] {
  const files = new Set([new URL(`../src/${entry}`, import.meta.url).href]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, from = ""] of readFileSync(new URL(file), "utf8").matchAll(
      /(?:^(?:import|export) .*?from |import\()"([^"]+)"/gm,
    )) {
      if (from.startsWith(".")) files.add(new URL(from, file).href);
      else if (!from.startsWith("node:")) packages.add(from);
    }
  }
  return [...packages].toSorted();
}
