import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { packages, root } from "./repository.mjs";

/** Puts the licence beside each package.json, where npm packs it: the repository's own does not travel with a package. */
export function copyLicenses() {
  for (const { path } of packages()) copyFileSync(join(root, "LICENSE"), join(path, "LICENSE"));
}
