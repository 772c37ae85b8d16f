// npm run format: formats both languages in place; `npm run lint` checks the same.
import { ensureDependencies } from "./lib/dependencies.mjs";
import { ensureEngine } from "./lib/engine.mjs";
import { run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { buildJavaScript } from "./lib/setup.mjs";

await script(async () => {
  await ensureDependencies();
  await run("oxfmt", []);
  await buildJavaScript();
  await run(await ensureEngine({ dev: true }), ["-m", "ruff", "format", "."]);
});
