// npm run gen -w @mrlm/store [-- --check]: writes docs/reference/store.md from the views, or checks that it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { storeReference } from "./store-reference.ts";

const page = new URL("../../../docs/reference/store.md", import.meta.url);
const content = storeReference();
if (!process.argv.includes("--check")) writeFileSync(page, content);
else if (readFileSync(page, "utf8") !== content) {
  console.error("docs/reference/store.md differs from the views. Run: npm run gen -w @mrlm/store");
  process.exitCode = 1;
}
