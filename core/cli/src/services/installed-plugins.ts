import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  directDependencies,
  packageDirectory,
  type PluginPackage,
  projectDirectory,
  readPluginPackage,
} from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { faultOf, type PluginFault } from "./plugin-fault.ts";

/** Plugins among the dependencies of a project. None of their code has run. */
export interface InstalledPlugins {
  /** Folder of the project. */
  readonly project: string;
  readonly plugins: readonly PluginPackage[];
  /** Dependencies that are no plugins, are not installed, or whose manifest is refused. */
  readonly skipped: readonly { readonly name: string; readonly fault: PluginFault }[];
}

/** Reads the manifests of a project and its direct dependencies. Throws USAGE outside of a project. */
export function installedPlugins(directory: string): InstalledPlugins {
  const project = projectOf(directory);
  const plugins: PluginPackage[] = [];
  const skipped: InstalledPlugins["skipped"][number][] = [];
  const skip = (name: string, code: string, message: string): void =>
    void skipped.push({ name, fault: { code, message } });
  for (const name of [undefined, ...directDependencies(project)]) {
    const place = name === undefined ? project : packageDirectory(name, project);
    try {
      const plugin = place === undefined ? undefined : readPluginPackage(place);
      if (plugin !== undefined) plugins.push(plugin);
      else if (name !== undefined)
        skip(
          name,
          place === undefined ? "NOT_INSTALLED" : "NO_PLUGIN",
          place === undefined ? "it is not installed" : 'its package.json has no "mrlm" field',
        );
    } catch (error) {
      skipped.push({ name: name ?? project, fault: faultOf(error) });
    }
  }
  return { project, plugins, skipped };
}

/** Returns the requirements of a plugin that no plugin of the project provides. */
export function missingRequirements(requires: readonly string[], plugins: readonly PluginPackage[]): string[] {
  const provided = plugins.flatMap(({ manifest }) => manifest.provides);
  return requires.filter((id) => !provided.some((other) => other === id || other.split("@")[0] === id));
}

/** Returns the folder of the project around a directory. Throws USAGE. */
export function projectOf(directory: string): string {
  const project = projectDirectory(directory);
  if (project !== undefined) return project;
  throw new MrlmError("USAGE", `There is no project around ${directory}: no folder above has a package.json.`, {
    hint: "Plugins are dependencies of a project. `npm init -y` makes one here.",
  });
}

const LOCK_FILES = {
  "package-lock.json": "npm",
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
} as const;

/** Package manager that a project uses. */
export type PackageManager = (typeof LOCK_FILES)[keyof typeof LOCK_FILES];

/** Returns the package manager of a project by its lock file; npm without one. */
export function packageManagerOf(project: string): PackageManager {
  const file = Object.keys(LOCK_FILES).find((name) => existsSync(join(project, name)));
  return file === undefined ? "npm" : LOCK_FILES[file as keyof typeof LOCK_FILES];
}
