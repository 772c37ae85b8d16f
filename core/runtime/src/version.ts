import { readFileSync } from "node:fs";

/** Version of mrlm: of this package, whose sources and bundle both stand one folder below its package.json. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
