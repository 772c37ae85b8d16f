import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { fileFault, MrlmError } from "@mrlm/spec";
import type { PluginManifest } from "@mrlm/spec/host";
import { parseManifest } from "./manifest.ts";

/** Package of a plugin, from its manifest. None of its code has run. */
export interface PluginPackage {
  readonly name: string;
  readonly version: string;
  readonly directory: string;
  readonly manifest: PluginManifest;
  /** URL of the module with the default export. */
  readonly entry: string;
}

interface PackageJson {
  readonly name?: string;
  readonly version?: string;
  readonly mrlm?: unknown;
  readonly exports?: { readonly "."?: { readonly "mrlm-source"?: string } };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Finds the nearest directory with a package.json, from `start` upwards. */
export function projectDirectory(start: string): string | undefined {
  for (const directory of ancestors(start)) if (existsSync(join(directory, "package.json"))) return directory;
  return undefined;
}

/** Returns the names of a project's direct dependencies of every kind. */
export function directDependencies(project: string): string[] {
  const { dependencies, devDependencies, optionalDependencies } = readPackageJson(project);
  return [
    ...new Set([
      ...Object.keys(dependencies ?? {}),
      ...Object.keys(devDependencies ?? {}),
      ...Object.keys(optionalDependencies ?? {}),
    ]),
  ];
}

/** Finds the directory of a package as Node does from `start`: `node_modules/NAME` of a directory above. A path names its directory itself. */
export function packageDirectory(name: string, start: string): string | undefined {
  if (/^\.{0,2}\//.test(name)) {
    const directory = resolve(start, name);
    return existsSync(join(directory, "package.json")) ? realpathSync(directory) : undefined;
  }
  for (const directory of ancestors(start)) {
    const candidate = join(directory, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
  }
  return undefined;
}

/** Reads a package's manifest; `undefined` if the package is not a plugin. */
export function readPluginPackage(directory: string): PluginPackage | undefined {
  const { name = directory, version = "0.0.0", mrlm, exports, peerDependencies } = readPackageJson(directory);
  if (mrlm === undefined) return undefined;
  const manifest = parseManifest({ name, specRange: peerDependencies?.["@mrlm/spec"] }, mrlm);
  // If this module runs from its sources, so do the plugins of the same checkout.
  const source = import.meta.url.endsWith(".ts") ? exports?.["."]?.["mrlm-source"] : undefined;
  return { name, version, directory, manifest, entry: pathToFileURL(join(directory, source ?? manifest.entry)).href };
}

function readPackageJson(directory: string): PackageJson {
  const path = join(directory, "package.json");
  try {
    return JSON.parse(readFileSync(path, "utf8")) as PackageJson;
  } catch (error) {
    throw new MrlmError("PLUGIN_INVALID", `${path} cannot be read as JSON: ${fileFault(error)}.`, { cause: error });
  }
}

function* ancestors(start: string): Generator<string> {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    yield directory;
    if (dirname(directory) === directory) return;
  }
}
