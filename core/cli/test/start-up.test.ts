import { expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const PRINT_PACKAGES = `data:text/javascript,
import { registerHooks } from "node:module";
const packages = new Set();
registerHooks({ resolve(name, context, next) { if (/^[@a-z]/.test(name) && !/^(node|file|data):/.test(name)) packages.add(name); return next(name, context); } });
process.on("exit", () => console.log(JSON.stringify([...packages].sort())));`;

test("loads no package but these before it knows the command: each would make every command slower", () => {
  const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
  const out = execFileSync(
    process.execPath,
    ["--conditions=mrlm-source", "--import", PRINT_PACKAGES.replaceAll("\n", ""), main, "--version"],
    { encoding: "utf8" },
  );
  expect(JSON.parse(out.trim().split("\n").at(-1) as string)).toEqual([
    "@commander-js/extra-typings",
    "@mrlm/spec",
    "commander",
  ]);
});
