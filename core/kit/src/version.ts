import { readFileSync } from "node:fs";

/** Version of mrlm: all its packages have the same. The manifest is in the parent folder of both the sources and the bundle. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
