import { MrlmError } from "@mrlm/spec";
import { queryNpm } from "./npm.ts";

/** Report of `npm pack` on a package. */
interface PackReport {
  readonly files: readonly { readonly path: string }[];
}

/** Returns the paths of the files that npm would pack, without running a script; `undefined` where npm fails. */
export async function packedNames(directory: string): Promise<string[] | undefined> {
  try {
    const report = (await queryNpm(["pack", "--dry-run", "--ignore-scripts"], directory)) as
      | readonly PackReport[]
      | Readonly<Record<string, PackReport>>;
    // npm prints an array of packages, or from version 11 on an object by package name.
    return Object.values(report)[0]?.files.map(({ path }) => path);
  } catch (error) {
    if (MrlmError.hasCode(error, "NPM_FAILED")) return undefined;
    throw error;
  }
}
