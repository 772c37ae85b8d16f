import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileFault, MrlmError } from "@mrlm/spec";
import type { PackageManager } from "./package-manager.ts";

const FROM =
  "Name the root of a clone in which `npm run build` has run, or the folder of `npm pack --workspaces --pack-destination FOLDER`.";

/** Source of the packages of mrlm that a project depends on. */
export interface PackageSource {
  /** Returns the version or address of a package in `dependencies`. Throws USAGE for a package that the source lacks. */
  specOf(name: string): string;
  /** Packages that packages of mrlm must find here too, because no registry has them. */
  readonly overrides: Readonly<Record<string, string>>;
}

/** Returns the registry as the source: the given version of every package. */
export function registrySource(version: string): PackageSource {
  return { specOf: () => version, overrides: {} };
}

/** Returns the source of `--from`: a clone of the repository after `npm run build`, or a folder of tarballs. Throws USAGE. */
export function localSource(given: string, manager: PackageManager): PackageSource {
  const path = resolve(given);
  try {
    if (!statSync(path).isDirectory()) throw Object.assign(new Error("it is no folder"), { code: undefined });
  } catch (error) {
    throw new MrlmError("USAGE", `--from ${given} cannot be used: ${fileFault(error)}.`, { hint: FROM });
  }
  const archives = readdirSync(path).filter((name) => name.endsWith(".tgz"));
  if (archives.length > 0) return tarballSource(path, archives);
  const folders = workspaceFolders(path);
  if (folders === undefined)
    throw new MrlmError("USAGE", `--from ${given} is neither a clone of mrlm nor a folder of tarballs.`, {
      hint: FROM,
    });
  return {
    specOf(name) {
      const folder = folders.get(name) ?? missing(name, given);
      if (!existsSync(join(folder, "dist", "index.d.ts")))
        throw new MrlmError("USAGE", `${name} in ${path} has not been built.`, {
          hint: `Run \`npm run build\` in ${path}.`,
        });
      return `${manager === "npm" ? "file" : "link"}:${folder}`;
    },
    overrides: {},
  };
}

function tarballSource(path: string, archives: readonly string[]): PackageSource {
  const found: Record<string, string> = {};
  for (const archive of archives) {
    const [, name] = /^((?:mrlm|create)-[a-z-]+)-\d[^/]*\.tgz$/.exec(archive) ?? [];
    if (name !== undefined) found[name.replace(/^mrlm-/, "@mrlm/")] = `file:${join(path, archive)}`;
  }
  return { specOf: (name) => found[name] ?? missing(name, path), overrides: found };
}

/** Returns the folders of the packages of a clone by their names; `undefined` for any other folder. */
function workspaceFolders(path: string): Map<string, string> | undefined {
  if (!existsSync(join(path, "core", "spec", "package.json"))) return undefined;
  const parents = ["core", "environments", "plugins", "algorithms"]
    .map((name) => join(path, name))
    .filter((parent) => existsSync(parent));
  const folders = parents.flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)));
  const packages = folders.filter((folder) => existsSync(join(folder, "package.json")));
  return new Map(
    packages.map((folder) => [
      (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string }).name,
      folder,
    ]),
  );
}

function missing(name: string, path: string): never {
  throw new MrlmError("USAGE", `--from ${path} has no package ${name}.`);
}
