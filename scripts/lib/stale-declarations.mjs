import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { packages } from "./repository.mjs";

/**
 * Returns whether a file of a package is the declaration of a source that no longer exists, or a map of a declaration, which builds no longer write. `tsc` writes
 * declarations beside the JavaScript of earlier builds, and removes none.
 * @param {string} file path in the package, with `/` @param {(source: string) => boolean} exists
 */
export function isStaleDeclaration(file, exists) {
  if (/^dist\/.+\.d\.ts\.map$/.test(file)) return true;
  const [, module] = /^dist\/(.+)\.d\.ts$/.exec(file) ?? [];
  return module !== undefined && !exists(`src/${module}.ts`);
}

/** Removes the declarations of sources that no longer exist. */
export function removeStaleDeclarations() {
  for (const { path } of packages()) {
    if (!existsSync(join(path, "dist")) || !existsSync(join(path, "src"))) continue;
    for (const name of readdirSync(join(path, "dist"), { recursive: true, encoding: "utf8" })) {
      const file = `dist/${name.replaceAll("\\", "/")}`;
      if (isStaleDeclaration(file, (source) => existsSync(join(path, source)))) rmSync(join(path, file));
    }
  }
}
