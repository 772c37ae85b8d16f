// Checks that the lock files of the repository and of its site serve every platform; a part of npm run lint.
import { join } from "node:path";
import { missingOptionalPackages } from "./lib/lock.mjs";
import { readJson, root } from "./lib/repository.mjs";

for (const lock of ["package-lock.json", "docs/site/package-lock.json"]) {
  const missing = missingOptionalPackages(readJson(join(root, lock)).packages);
  if (missing.length === 0) continue;
  console.error(`${lock} lacks optional packages, so "npm ci" will refuse it:\n  ${missing.join("\n  ")}`);
  console.error("Pin the package that names them to a version whose platform packages can all be had.");
  process.exitCode = 1;
}
