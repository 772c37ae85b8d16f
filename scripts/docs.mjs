// npm run docs [-- --check] [-- options of astro]: builds the static site of docs/ with the reference of the TypeScript interfaces. Its packages have a lock
// file of their own, so that `npm ci` of the repository does not install them. --check opens each page in Chromium at two widths, where there is one.
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ensureDependencies } from "./lib/dependencies.mjs";
import { root } from "./lib/repository.mjs";
import { projectNode, run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";

const site = join(root, "docs", "site");

await script(async () => {
  await ensureDependencies();
  const installed = join(site, "node_modules", ".package-lock.json");
  const lock = join(site, "package-lock.json");
  if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs)
    await run("npm", ["ci", "--ignore-scripts", "--loglevel=error"], { cwd: site });
  process.env.ASTRO_TELEMETRY_DISABLED = "1";
  const options = process.argv.slice(2);
  await run(projectNode, ["collect-pages.mjs"], { cwd: site });
  await run(
    projectNode,
    [
      join(site, "node_modules", "astro", "bin", "astro.mjs"),
      "build",
      ...options.filter((option) => option !== "--check"),
    ],
    {
      cwd: site,
    },
  );
  if (options.includes("--check")) await run(projectNode, ["check-pages.mjs"], { cwd: site });
  console.error(`The site is in ${join(site, "dist")}.`);
});
