// npm run build: JavaScript by tsup, then declarations (and so the type check) by tsc.
import { ensureDependencies } from "./lib/dependencies.mjs";
import { copyLicenses } from "./lib/licenses.mjs";
import { progress } from "./lib/progress.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { buildJavaScript } from "./lib/setup.mjs";
import { removeStaleDeclarations } from "./lib/stale-declarations.mjs";

await script(async () => {
  await ensureDependencies();
  await progress("bundling packages", buildJavaScript);
  copyLicenses();
  await progress("checking types, writing declarations", () => run("tsc", ["--build"]));
  removeStaleDeclarations();
});
