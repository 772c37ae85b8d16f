import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ROOT } from "./code-blocks/blocks.ts";
import { shellFaults } from "./code-blocks/shell.ts";

const guide = readFileSync(join(ROOT, "docs/guides/migrating.md"), "utf8");
const sections = guide
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    rows: Array.from(section.matchAll(/^\| (.+?) \| (.+) \|$/gm), ([, , ours]) => ours as string).filter(
      (cell) => !/^(mrlm|---)$/.test(cell),
    ),
  }));

/** Words of the sources of core, of the packages' names, and of the configuration. */
const words = new Set([
  ...["spec", "kit", "runtime", "client", "testing"].flatMap((name) => wordsBelow(join(ROOT, "core", name, "src"))),
  ...readFileSync(join(ROOT, "docs/reference/config.md"), "utf8").split(/[^\w]+/),
  ...readFileSync(join(ROOT, "package.json"), "utf8").split(/[^@\w/-]+/),
]);

function wordsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => readFileSync(join(folder, path), "utf8").split(/\W+/));
}

describe.each(sections)("coming from $title", ({ rows }) => {
  test("every command and name of mrlm exists", () => {
    expect(rows.length).toBeGreaterThanOrEqual(9);
    const spans = rows.flatMap((row) => Array.from(row.matchAll(/`([^`]+)`/g), ([, code]) => code as string));
    const faults = spans.flatMap((code) => {
      if (code.startsWith("mrlm "))
        return shellFaults({
          page: "docs/guides/migrating.md",
          line: 0,
          language: "sh",
          code,
          surroundings: undefined,
        });
      if (code.startsWith("@mrlm/")) return words.has(code) || ["@mrlm/client"].includes(code) ? [] : [code];
      return code
        .replaceAll(/"[^"]*"/g, "")
        .split(/\W+/)
        .filter((word) => word !== "" && !words.has(word) && !/^\d+$/.test(word));
    });
    expect(faults).toEqual([]);
  });
});
