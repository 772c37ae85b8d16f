import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ROOT } from "./code-blocks/blocks.ts";
import { shellFaults } from "./code-blocks/shell.ts";
import { gymnasium } from "./migrating/gymnasium.ts";
import { mrlm } from "./migrating/mrlm.ts";
import { nemoGym } from "./migrating/nemo-gym.ts";
import { openenv } from "./migrating/openenv.ts";
import { openReward } from "./migrating/openreward.ts";
import type { Rows } from "./migrating/row.ts";
import { verifiers } from "./migrating/verifiers.ts";

const guide = readFileSync(join(ROOT, "docs/start/migrating.md"), "utf8");
const sections = guide
  .split(/^### /m)
  .slice(1)
  .map((section) => ({
    title: section.slice(0, section.indexOf("\n")),
    rows: Array.from(section.matchAll(/^- (.+?) → (.+)$/gm), ([, theirs, ours]) => ({
      theirs: theirs as string,
      ours: ours as string,
    })),
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

/** Programs of the rows by the first word of a section's title. */
const PROGRAMS: Readonly<Record<string, Rows>> = {
  Gymnasium: gymnasium,
  MRLM: mrlm,
  NeMo: nemoGym,
  OpenEnv: openenv,
  OpenReward: openReward,
  verifiers,
};

const outcomes = new Map<() => Promise<void>, Promise<void>>();

/** Runs a program that rows of several tables share the first time only. */
function once(program: () => Promise<void>): Promise<void> {
  const outcome = outcomes.get(program) ?? program();
  outcomes.set(program, outcome);
  return outcome;
}

describe.each(sections)("coming from $title", ({ title, rows }) => {
  const programs = PROGRAMS[title.split(" ")[0] as string] ?? {};

  test("every row has a program, and every program a row", () => {
    expect(Object.keys(programs).sort()).toEqual(rows.map(({ theirs }) => theirs).sort());
  });

  test.each(Object.entries(programs).filter(([, program]) => typeof program !== "string"))(
    "the right column of %s is true",
    async (_theirs, program) => {
      if (typeof program !== "string") await once(program);
    },
  );

  test("the right column of a row of commands has its command", () => {
    for (const { theirs, ours } of rows) {
      const program = programs[theirs];
      if (typeof program === "string") expect(ours).toContain(`mrlm ${program}`);
    }
  });

  test("every command and name of mrlm exists", () => {
    expect(rows.length).toBeGreaterThanOrEqual(9);
    const spans = rows.flatMap(({ ours }) => Array.from(ours.matchAll(/`([^`]+)`/g), ([, code]) => code as string));
    const faults = spans.flatMap((code) => {
      if (code.startsWith("mrlm "))
        return shellFaults({
          page: "docs/start/migrating.md",
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
