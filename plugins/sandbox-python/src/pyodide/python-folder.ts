import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Returns the folder of this package's Python modules, both from sources and bundled. */
export function pythonFolder(): string {
  return join(dirname(createRequire(import.meta.url).resolve("@mrlm/sandbox-python/package.json")), "python");
}
