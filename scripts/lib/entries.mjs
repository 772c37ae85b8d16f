import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the entries to bundle for a package: each `./dist/NAME.js` of its exports and bin, from `src/NAME.ts`,
 * and those of its `tsup.entry` (modules that are started as processes or workers).
 * @param {{ path: string, manifest: any }} package_
 * @returns {Record<string, string>} output name (without extension) -> absolute source path
 */
export function entriesOf({ path, manifest }) {
  const outputs = [
    ...Object.values(manifest.exports ?? {}).map((target) => target.import),
    ...Object.values(manifest.bin ?? {}),
  ].filter((file) => typeof file === "string" && file.startsWith("./dist/"));
  const names = [
    ...outputs.map((file) => file.slice("./dist/".length, -".js".length)),
    ...(manifest.tsup?.entry ?? []).map((/** @type {string} */ file) =>
      file.replace(/^(\.\/)?src\//, "").replace(/\.ts$/, ""),
    ),
  ];
  return Object.fromEntries(
    names.map((name) => [name, join(path, "src", `${name}.ts`)]).filter(([, source]) => existsSync(source)),
  );
}
