import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { packages, root } from "./repository.mjs";

/** Copies the licence to the folder of each package.json, because npm packs files of the package only. */
export function copyLicenses() {
  for (const { path } of packages()) copyFileSync(join(root, "LICENSE"), join(path, "LICENSE"));
}
