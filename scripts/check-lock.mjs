// Checks that package-lock.json serves every platform; a part of npm run lint.
import { join } from "node:path";
import { missingOptionalPackages } from "./lib/lock.mjs";
import { readJson, root } from "./lib/repository.mjs";

const missing = missingOptionalPackages(readJson(join(root, "package-lock.json")).packages);
if (missing.length > 0) {
  console.error(`package-lock.json lacks optional packages, so "npm ci" will refuse it:\n  ${missing.join("\n  ")}`);
  console.error("Pin the package that names them to a version whose platform packages can all be had.");
  process.exitCode = 1;
}
