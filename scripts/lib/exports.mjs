import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { packages as workspacePackages, root } from "./repository.mjs";

/**
 * One name that a package exports.
 * @typedef {{ entry: string, name: string, symbol: string }} Exported entry is an import path (`@mrlm/kit/learning`); symbol is `FILE#NAME` of the
 * declaration, the same for each entry that exports it again
 */

/**
 * Returns the names that all entries of packages export. Reads the sources by their text: they are formatted, and scripts have no parser of TypeScript.
 * @param {{ path: string, manifest: any }[]} [packages] @returns {Exported[]}
 */
export function exportedNames(packages = workspacePackages()) {
  const sources = new Map(packages.flatMap(sourceEntries));
  const modules = new Modules(sources);
  return [...sources].flatMap(([entry, file]) =>
    [...modules.namesOf(file)].map(([name, symbol]) => ({ entry, name, symbol })),
  );
}

/**
 * Returns the number of different symbols among exported names: a symbol of several entries counts once. Default exports do not count: hosts find plugins by
 * their manifests.
 * @param {Exported[]} names
 */
export function countSymbols(names) {
  return new Set(names.filter(({ name }) => name !== "default").map(({ symbol }) => symbol)).size;
}

/** @param {{ path: string, manifest: any }} package_ @returns {[string, string][]} import path and source of each entry */
function sourceEntries({ path, manifest }) {
  return Object.entries(manifest.exports ?? {}).flatMap(([key, target]) => {
    const source = target["mrlm-source"];
    return source === undefined ? [] : [[`${manifest.name}${key.slice(1)}`, join(path, source)]];
  });
}

const COMMENTS = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm;
const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum|namespace) ([\w$]+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}(?: from "([^"]+)")?/gm;
const ALL = /^export (?:type )?\* (?:as ([\w$]+) )?from "([^"]+)"/gm;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from "([^"]+)"/gm;

/** Exported names of modules. Each module is read once. */
class Modules {
  /** @type {Map<string, Map<string, string>>} */
  #known = new Map();
  #sources;

  /** @param {Map<string, string>} sources file of each import path */
  constructor(sources) {
    this.#sources = sources;
  }

  /** Returns the symbol of each name that a module exports. @param {string} file @returns {Map<string, string>} */
  namesOf(file) {
    const names = this.#known.get(file) ?? this.#read(file);
    this.#known.set(file, names);
    return names;
  }

  /** @param {string} file @returns {Map<string, string>} */
  #read(file) {
    const text = readFileSync(file, "utf8").replaceAll(COMMENTS, "");
    const own = (/** @type {string} */ name) => `${relative(root, file).replaceAll("\\", "/")}#${name}`;
    /** A module may export a name that it imports. @type {Map<string, { name: string, from: string }>} */
    const imported = new Map();
    for (const [, list = "", from = ""] of text.matchAll(IMPORTED))
      for (const { name, as } of listed(list)) imported.set(as, { name, from });
    /** @type {Map<string, string>} */
    const names = new Map();
    for (const [, name = ""] of text.matchAll(DECLARED)) names.set(name, own(name));
    if (/^export default /m.test(text)) names.set("default", own("default"));
    for (const [, list = "", from] of text.matchAll(LISTED))
      for (const { name, as } of listed(list)) {
        const place = from === undefined ? imported.get(name) : { name, from };
        names.set(as, place === undefined ? own(name) : this.#symbolIn(place, file));
      }
    for (const [, as, from = ""] of text.matchAll(ALL)) {
      if (as !== undefined) names.set(as, own(as));
      else for (const [name, symbol] of this.#exportsOf(from, file)) if (name !== "default") names.set(name, symbol);
    }
    return names;
  }

  /** @param {{ name: string, from: string }} place @param {string} importer */
  #symbolIn({ name, from }, importer) {
    return this.#exportsOf(from, importer).get(name) ?? `${from}#${name}`;
  }

  /** @param {string} from @param {string} importer @returns {Map<string, string>} */
  #exportsOf(from, importer) {
    const file = this.#sources.get(from) ?? (from.startsWith(".") ? join(dirname(importer), from) : undefined);
    return file === undefined ? new Map() : this.namesOf(file);
  }
}

/** Returns the names of `{ a, type B, c as d }`. @param {string} list @returns {{ name: string, as: string }[]} */
function listed(list) {
  return list
    .split(",")
    .map((part) => part.trim().replace(/^type /, ""))
    .filter((part) => part !== "")
    .map((part) => {
      const [name = "", as = name] = part.split(" as ");
      return { name, as };
    });
}
