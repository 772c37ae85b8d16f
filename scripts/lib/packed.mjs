import { isStaleDeclaration } from "./stale-declarations.mjs";

/** Files that npm adds to each package. */
const ALWAYS = new Set(["package.json", "README.md", "LICENSE"]);

/** Files that no package holds: what builds, tests and programs leave. Templates and fixtures bring tests of their own. */
const NEVER =
  /(^|\/)(node_modules|__pycache__|\.env[^/]*|.*\.(tsbuildinfo|pyc|tgz|log))(\/|$)|^(?!(?:templates|fixtures)\/).*(\.test\.[cm]?[jt]s$|(^|\/)tests?\/)/;

/**
 * Compares the files of a packed package with those that it must hold, and returns the differences, one a line.
 * @param {any} manifest the package.json @param {string[]} files paths in the package, with `/`
 */
export function wrongFiles(manifest, files) {
  const packed = new Set(files);
  const listed = /** @type {string[]} */ (manifest.files ?? []).filter((name) => !name.startsWith("!"));
  const isListed = (/** @type {string} */ file) => listed.some((name) => file === name || file.startsWith(`${name}/`));
  return [
    ...[...ALWAYS, ...namedFiles(manifest)].filter((file) => !packed.has(file)).map((file) => `lacks ${file}`),
    ...listed
      .filter((name) => !files.some((file) => file === name || file.startsWith(`${name}/`)))
      .map((name) => `lists ${name}, which is empty`),
    ...files.filter((file) => NEVER.test(file) || !(ALWAYS.has(file) || isListed(file))).map((file) => `holds ${file}`),
    ...files
      .filter((file) => isStaleDeclaration(file, (source) => packed.has(source)))
      .map((file) => `holds ${file} of a source that no longer exists: remove dist and build again`),
  ];
}

/** Returns the files that `exports`, `bin` and the plugin's manifest name. @param {any} manifest */
function namedFiles({ exports = {}, bin = {}, mrlm }) {
  /** @type {string[]} */
  const named = [];
  const add = (/** @type {unknown} */ value) => {
    if (typeof value === "string") named.push(value.replace(/^\.\//, ""));
    else for (const each of Object.values(value ?? {})) add(each);
  };
  add(exports);
  add(bin);
  add(mrlm?.entry);
  return named.filter((name) => !name.includes("*"));
}
