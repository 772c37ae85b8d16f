import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { commandReference } from "../scripts/command-reference.ts";
import { EXIT } from "../src/exit-codes.ts";
import { createProgram, leaves } from "../src/program.ts";

const page = readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8");

test("docs/reference/cli.md has every command and flag as the program's help has them", () => {
  expect(page).toBe(commandReference());
});

test("--help marks the flags that are required", () => {
  const play = leaves(createProgram(() => undefined)).find((command) => command.name() === "sample");
  expect(play?.helpInformation()).toMatch(/--run <run> +\(required\) the run's directory/);
});

test("docs/reference/cli.md has every exit code and no other", () => {
  expect([...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code))).toEqual(Object.values(EXIT));
});
