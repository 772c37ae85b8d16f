import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT, run, userEnvironment } from "../../test/lifecycle/support/program.ts";

/** Packed packages of the repository. */
export interface Tarballs {
  readonly folder: string;
  /** `file:` addresses by name. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** Builds all packages of the repository, and packs them into a folder. */
export async function packAll(folder: string): Promise<Tarballs> {
  mkdirSync(folder);
  const env = userEnvironment();
  await run("npm", ["run", "build"], ROOT, env);
  const flags = ["--workspaces", "--json", "--loglevel=error", "--foreground-scripts=false"];
  const report = JSON.parse(await run("npm", ["pack", ...flags, "--pack-destination", folder], ROOT, env)) as object;
  // An array of packages, or from npm 11 on an object by package name.
  const packed = Object.values(report) as readonly { readonly name: string; readonly filename: string }[];
  return {
    folder,
    addresses: Object.fromEntries(packed.map(({ name, filename }) => [name, `file:${join(folder, filename)}`])),
  };
}
