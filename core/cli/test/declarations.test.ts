import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createProgram, leaves } from "../src/program.ts";

const SOURCES = new URL("../src", import.meta.url).pathname;
const options = leaves(createProgram(() => undefined)).flatMap((command) =>
  command.options.map((option) => ({ command: command.name(), option })),
);

/** Names of values in the help that are no texts. */
const PARSED = /<(n|number|seconds|port|count|index|t|x|nats|json)>$/;

test.each(
  options.filter(({ option }) => PARSED.test(option.flags)).map((each) => [each.command, each.option] as const),
)("%s parses $flags at its declaration, and a fault names the flag", (_, option) => {
  const { long = "" } = option;
  expect(() => option.parseArg?.("?", undefined)).toThrow(
    expect.objectContaining({ code: "USAGE", message: expect.stringMatching(`^${long} (\\?|is not JSON)`) }),
  );
});

test("no other file states the optional type of a flag again", () => {
  const names = new Set(options.map(({ option }) => option.attributeName()).filter((name) => /[A-Z]/.test(name)));
  const repeated = globSync("**/*.ts", { cwd: SOURCES })
    .filter((file) => !file.startsWith("declarations/"))
    .flatMap((file) =>
      Array.from(readFileSync(join(SOURCES, file), "utf8").matchAll(/^ +readonly (\w+)\?: /gm), ([, name = ""]) => name)
        .filter((name) => names.has(name))
        .map((name) => `${file}: ${name}`),
    );
  expect(repeated).toEqual([]);
});
