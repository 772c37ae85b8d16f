// npm run gen: generates the code of both languages from protos/, and the pages of docs/reference.
import { ensureDependencies } from "./lib/dependencies.mjs";
import { ensureEngine } from "./lib/engine.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { buildJavaScript } from "./lib/setup.mjs";

await script(async () => {
  await ensureDependencies();
  await run("npm", ["run", "gen", "--workspaces", "--if-present"]);
  await buildJavaScript();
  await run(await ensureEngine({ dev: true }), ["scripts/generate_python.py"]);
});
