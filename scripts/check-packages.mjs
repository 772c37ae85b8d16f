// npm run check:packages: packs each package as it would be published; checks that it can be imported, and holds its build, sources, README,
// licence and the files that it names, and nothing else.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { cacheDirectory, packages } from "./lib/repository.mjs";
import { wrongFiles } from "./lib/packed.mjs";
import { attempt, run, runNode } from "./lib/run.mjs";
import { ScriptError, script } from "./lib/script.mjs";

await script(async () => {
  await runNode(["scripts/build.mjs"]);
  const folder = join(cacheDirectory, "packed");
  mkdirSync(folder, { recursive: true });
  const failed = [];
  for (const { path, manifest } of packages()) {
    if (!existsSync(join(path, "src", "index.ts"))) continue;
    console.error(`> ${manifest.name}`);
    const { stdout } = await run("npm", ["pack", "--json", "--loglevel=error", "--pack-destination", folder], {
      cwd: path,
      stdout: "capture",
    });
    const packed = packedOf(stdout);
    const archive = join(folder, packed.filename);
    const wrong = wrongFiles(
      manifest,
      packed.files.map(({ path: file }) => file),
    );
    if (wrong.length > 0) failed.push(`${manifest.name} (${wrong.join("; ")})`);
    const checks = {
      publint: ["run", archive, "--strict"],
      attw: [archive, "--profile", "esm-only", "--no-color"],
    };
    for (const [command, args] of Object.entries(checks)) {
      const { exitCode, stdout: report } = await attempt(command, args, { stdout: "capture" });
      if (exitCode === 0) continue;
      console.error(report);
      failed.push(`${manifest.name} (${command})`);
    }
  }
  if (failed.length > 0) throw new ScriptError(`these packages would not work as published: ${failed.join(", ")}`);
});

/**
 * npm prints an array of packages, or from version 11 on an object by package name.
 * @param {string} json
 * @returns {{ filename: string, files: { path: string }[] }}
 */
function packedOf(json) {
  const report = JSON.parse(json);
  const [packed] = Array.isArray(report) ? report : Object.values(report);
  return packed;
}
