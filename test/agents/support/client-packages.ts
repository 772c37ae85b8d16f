import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { cacheDirectory, hash64 } from "@mrlm/kit/service";

const INSTALL_MS = 540_000;

// Packages of other frameworks have no types here.
// oxlint-disable-next-line typescript/no-explicit-any
type Module = any;

/** Installed packages. */
interface Installed {
  /** Folder with `node_modules`. */
  readonly folder: string;
  /** Imports a package. */
  load(name: string): Promise<Module>;
}

/**
 * Installs packages of npm in a folder of the user's cache, once. Returns the reason where they cannot be installed: no network.
 * @param packages names with versions, for example `ai@7.0.173`
 * @param flags further flags of npm
 */
export async function clientPackages(
  packages: readonly string[],
  flags: readonly string[] = [],
): Promise<Installed | { readonly reason: string }> {
  const folder = join(cacheDirectory(), "client-packages", hash64([...packages, ...flags].join(" ")).toString(16));
  if (!existsSync(folder)) {
    const made = `${folder}.${process.pid}`;
    mkdirSync(made, { recursive: true });
    writeFileSync(join(made, "package.json"), "{}");
    try {
      const options = ["--no-audit", "--no-fund", "--ignore-scripts", "--no-save", ...flags];
      await promisify(execFile)("npm", ["install", ...options, ...packages], { cwd: made, timeout: INSTALL_MS });
      renameSync(made, folder);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      return { reason: `npm cannot install it: ${(error as Error).message.split("\n")[0]}` };
    }
  }
  const { resolve } = createRequire(join(folder, "package.json"));
  return {
    folder,
    async load(name) {
      return await import(pathToFileURL(resolve(name)).href);
    },
  };
}
