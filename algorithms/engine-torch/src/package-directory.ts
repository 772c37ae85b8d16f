import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NAME = "@mrlm/engine-torch";

/** Returns the directory of this npm package, found from the path of this module, bundled or not. */
export function packageDirectory(start: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let directory = start; ; directory = dirname(directory)) {
    const manifest = join(directory, "package.json");
    if (existsSync(manifest) && (JSON.parse(readFileSync(manifest, "utf8")) as { name?: string }).name === NAME)
      return directory;
    if (dirname(directory) === directory) throw new Error(`${NAME} cannot find its own package.json above ${start}.`);
  }
}

/** Returns the directory of the Python package `mrlm_engine`. It is used in place, so a change needs no installation. */
export function pythonDirectory(): string {
  return join(packageDirectory(), "python");
}
