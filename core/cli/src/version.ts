import { readFileSync } from "node:fs";

/** Version of this package. It reads the manifest itself, because help loads no other package. The manifest is in the parent folder of both the sources and the bundle. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
