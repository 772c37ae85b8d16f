// Bundles the sources of every package that has changed into its dist/, by tsup in this one process.
// Dependencies stay imports. Code that several entries of a package share becomes one chunk.
import { copyFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { entriesOf } from "./lib/entries.mjs";
import { fingerprint, stampOf, writeStamp } from "./lib/fingerprint.mjs";
import { packages, root } from "./lib/repository.mjs";

const recipe = fingerprint([
  join(root, "scripts", "build-javascript.mjs"),
  join(root, "scripts", "lib", "entries.mjs"),
]);

/** @type {string[]} */
const built = [];
for (const workspace of packages()) {
  const entry = entriesOf(workspace);
  const names = Object.keys(entry);
  const outDir = join(workspace.path, "dist");
  const stamp = `build/${workspace.folder}`;
  const page = workspace.manifest.tsup?.page;
  const sources = ["src", "package.json", ...(page ? ["page"] : [])].map((name) => join(workspace.path, name));
  const state = recipe + fingerprint(sources);
  const outputs = [...names, ...(page ? ["page/page"] : [])];
  const isBuilt = outputs.every((name) => existsSync(join(outDir, `${name}.js`)));
  if (names.length === 0 || (isBuilt && stampOf(stamp) === state)) continue;
  const { build } = await import("tsup");
  removeOldJavaScript(outDir);
  await build({
    config: false,
    entry,
    outDir,
    format: "esm",
    target: "node24",
    platform: "node",
    dts: false,
    splitting: true,
    sourcemap: true,
    esbuildOptions: (options) => {
      // The packages hold their sources: maps need no copy of them.
      options.sourcesContent = false;
    },
    clean: false,
    removeNodeProtocol: false, // node:sqlite exists under its full name only
    skipNodeModulesBundle: true,
    silent: true,
    tsconfig: join(workspace.path, "tsconfig.json"),
  });
  if (page) await buildPage(build, join(workspace.path, page), join(outDir, "page"));
  writeStamp(stamp, state);
  built.push(workspace.manifest.name);
}
if (built.length > 0) console.error(`  bundled ${built.length > 3 ? `${built.length} packages` : built.join(", ")}`);

/**
 * Bundles the script and the style of a page for browsers, dependencies included, beside its index.html.
 * @param {typeof import("tsup").build} build @param {string} entry @param {string} outDir
 */
async function buildPage(build, entry, outDir) {
  await build({
    config: false,
    entry: { page: entry },
    outDir,
    format: "esm",
    target: "es2022",
    platform: "browser",
    dts: false,
    splitting: false,
    minify: true,
    noExternal: [/./],
    silent: true,
    tsconfig: join(dirname(entry), "tsconfig.json"),
  });
  copyFileSync(join(dirname(entry), "index.html"), join(outDir, "index.html"));
}

/** Removes old JavaScript, but not declarations: tsc writes and updates them incrementally. */
function removeOldJavaScript(/** @type {string} */ folder) {
  if (!existsSync(folder)) return;
  for (const file of readdirSync(folder)) {
    if (/\.js(\.map)?$/.test(file)) rmSync(join(folder, file));
  }
}
