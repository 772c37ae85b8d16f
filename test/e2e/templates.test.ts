import { execFileSync } from "node:child_process";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/tiny-run.ts";

const directory = temporaryDirectory();

test("templates/algorithm: a copy of it compiles, and its test passes", () => {
  const copy = join(directory, "algorithm");
  cpSync(join(ROOT, "templates/algorithm"), copy, {
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
  expect(node(copy, "--test", "test/*.test.ts")).toMatch(/pass 2\n/);
}, 300_000);
