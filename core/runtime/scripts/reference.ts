// npm run gen -w @mrlm/runtime [-- --check]: writes docs/reference from the schemas and the catalogue of codes, and the table of packages from their manifests, or checks that all are up to date.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { configJsonSchema, configReference } from "./config-reference.ts";
import { errorReference } from "./error-reference.ts";
import { providerTable } from "./provider-table.ts";

const directory = new URL("../../../docs/reference/", import.meta.url);
const pages = {
  "config.md": configReference(),
  "config.schema.json": `${JSON.stringify(configJsonSchema(), null, 2)}\n`,
  "errors.md": errorReference(),
  "../../core/runtime/src/plugins/provider-table.ts": providerTable(),
};

mkdirSync(directory, { recursive: true });
for (const [name, content] of Object.entries(pages)) {
  const url = new URL(name, directory);
  if (!process.argv.includes("--check")) writeFileSync(url, content);
  else if (readFileSync(url, "utf8") !== content) {
    console.error(
      `${url.pathname.slice(new URL("../../", directory).pathname.length)} differs from its source. Run: npm run gen -w @mrlm/runtime`,
    );
    process.exitCode = 1;
  }
}
