import { readFileSync } from "node:fs";

/** Version of this package. The sources and the bundle are both one folder below its package.json. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
