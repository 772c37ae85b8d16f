import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Where this package's Python modules lie, whether it runs from its sources or bundled. */
export function pythonFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@mrlm/sandbox-python/package.json")), "python");
}
