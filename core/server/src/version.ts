import { readFileSync } from "node:fs";

/** Of this package: its manifest lies one folder above, from the sources as from the bundle. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;
