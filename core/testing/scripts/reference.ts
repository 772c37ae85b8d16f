// npm run gen -w @mrlm/testing [-- --check]: writes docs/reference/checks.md from the table of codes, or checks that it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { checksReference } from "./checks-reference.ts";

const page = new URL("../../../docs/reference/checks.md", import.meta.url);
if (!process.argv.includes("--check")) writeFileSync(page, checksReference());
else if (readFileSync(page, "utf8") !== checksReference()) {
  console.error("docs/reference/checks.md differs from the table of codes. Run: npm run gen -w @mrlm/testing");
  process.exitCode = 1;
}
