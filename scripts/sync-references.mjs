// npm run sync:references [-- --check]: keeps the `references` of each package's tsconfig.json equal to its
// @mrlm dependencies, and those of the root to all packages, so that `tsc --build` builds in the right order.
import { readFileSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { packages, readJson, root } from "./lib/repository.mjs";

const isCheck = process.argv.includes("--check");
const all = packages();
const folderOf = new Map(all.map(({ folder, manifest }) => [manifest.name, folder]));

for (const { folder, manifest } of all) {
  const dependencies = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const folders = dependencies.flatMap((name) => folderOf.get(name) ?? []);
  sync(
    `${folder}/tsconfig.json`,
    folders.map((target) => ({ path: posix.relative(folder, target) })),
  );
}
const everyPackage = all.map(({ folder }) => ({ path: folder }));
const unbuilt = ["core/ui/page/tsconfig.json", "tsconfig.tests.json", "tsconfig.scripts.json"];
sync("tsconfig.json", [...everyPackage, ...unbuilt.map((path) => ({ path }))]);
sync("tsconfig.tests.json", everyPackage);

/** @param {string} file @param {{ path: string }[]} references */
function sync(file, references) {
  const path = join(root, file);
  const config = { ...readJson(path), references };
  const text = `${JSON.stringify(config, null, 2)}\n`;
  if (text === readFileSync(path, "utf8")) return;
  if (isCheck) {
    console.error(`${file}: its references are not its @mrlm dependencies. Run: npm run sync:references`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
  }
}
