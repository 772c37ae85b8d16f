/** @typedef {Record<string, { optionalDependencies?: Record<string, string> }>} LockedPackages */

/**
 * The optional packages that a lock file should hold and does not. npm leaves out those that it could not find when it
 * wrote the lock; `npm ci` then refuses the lock, even on platforms that have no use for them.
 * @param {LockedPackages} locked `packages` of package-lock.json
 * @returns {string[]} as `package -> missing@range`
 */
export function missingOptionalPackages(locked) {
  return Object.entries(locked).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.entries(optionalDependencies)
      .filter(([name]) => !foldersAbove(path).some((folder) => `${folder}node_modules/${name}` in locked))
      .map(([name, range]) => `${path} -> ${name}@${range}`),
  );
}

/** Returns the folders in which Node looks for imports of the package at `path`, each as a prefix of `node_modules/`. @param {string} path */
function foldersAbove(path) {
  const folders = [""];
  for (let end = path.indexOf("/node_modules/"); end >= 0; end = path.indexOf("/node_modules/", end + 1)) {
    folders.push(path.slice(0, end + 1));
  }
  return path === "" ? folders : [...folders, `${path}/`];
}
