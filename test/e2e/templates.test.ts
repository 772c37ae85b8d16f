import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/tiny-run.ts";

const directory = temporaryDirectory();

test("the guide of tools shows templates/tool as it stands", () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const source = `${read("templates/tool/src/index.ts")}\n${read("templates/tool/test/notes.test.ts")}`;
  const lines = new Set(source.split("\n").map((line) => line.trim()));
  const blocks = [...read("docs/guides/writing-a-tool.md").matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code]) => code as string,
  );
  expect(blocks).toHaveLength(4);
  for (const line of blocks.flatMap((code) => code.split("\n"))) expect(lines).toContain(line.trim());
});

test.each([
  ["algorithm", 2],
  ["tool", 13],
])(
  "templates/%s: a copy of it compiles, and its tests pass",
  (name, passed) => {
    const copy = join(directory, name);
    cpSync(join(ROOT, "templates", name), copy, {
      recursive: true,
      filter: (path) => !/\/(dist|node_modules)$/.test(path),
    });
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const node = (cwd: string, ...args: string[]): string =>
      execFileSync(process.execPath, args, { cwd, encoding: "utf8", env: { ...process.env, NODE_OPTIONS: "" } });
    // The declarations that an installed package would bring; the set-up of tests makes none.
    node(ROOT, tsc, "--build", "core/kit", "core/testing");
    node(copy, tsc);
    expect(node(copy, "--test", "test/*.test.ts")).toContain(`pass ${passed}\n`);
  },
  300_000,
);
