// npm run gen -w @mrlm/cli [-- --check]: writes docs/reference/cli.md from the program's own help, or checks that it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { commandReference } from "./command-reference.ts";

const page = new URL("../../../docs/reference/cli.md", import.meta.url);
if (!process.argv.includes("--check")) writeFileSync(page, commandReference());
else if (readFileSync(page, "utf8") !== commandReference()) {
  console.error("docs/reference/cli.md differs from the program's help. Run: npm run gen -w @mrlm/cli");
  process.exitCode = 1;
}
