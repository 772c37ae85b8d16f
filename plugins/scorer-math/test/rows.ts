/** Rows of JSON Lines files, in the package and in the parent folder of the repository. */
import { existsSync, readFileSync } from "node:fs";

/** Returns the rows of a file of this folder. */
export function rowsOf<Row>(file: string): readonly Row[] {
  return parse<Row>(new URL(file, import.meta.url));
}

/**
 * Returns the rows of `../shared/data/<file>` outside the repository; undefined where that optional folder is absent.
 */
export function sharedRows<Row>(file: string): readonly Row[] | undefined {
  const url = new URL(`../../../../shared/data/${file}`, import.meta.url);
  return existsSync(url) ? parse<Row>(url) : undefined;
}

function parse<Row>(url: URL): readonly Row[] {
  return readFileSync(url, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as Row);
}
