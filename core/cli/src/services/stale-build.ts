import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { CheckedPackage } from "./check-package.ts";

const SOURCE = /(?<!\.d)\.[cm]?tsx?$/;

/** Returns a source file that was changed after the entry of the package was built; `undefined` where the entry is no build or is newer. */
export function changedSince({ directory, json: { mrlm } }: CheckedPackage): string | undefined {
  const { entry } = mrlm as { readonly entry?: unknown };
  if (typeof entry !== "string" || !/^\.\/(dist|build|lib|out)\//.test(entry)) return undefined;
  const [built, sources] = [join(directory, entry), join(directory, "src")];
  if (!existsSync(built) || !existsSync(sources)) return undefined;
  const builtAt = statSync(built).mtimeMs;
  const changed = readdirSync(sources, { recursive: true, encoding: "utf8" }).find(
    (name) => SOURCE.test(name) && statSync(join(sources, name)).mtimeMs > builtAt,
  );
  return changed === undefined ? undefined : `src/${changed.replaceAll("\\", "/")}`;
}
