import type { Stats } from "node:fs";
import type { Directory } from "./directory.ts";

/** Entry found by `walk`. */
export interface Found {
  /** Names below the directory where the walk began. Bytes that are not UTF-8 are replaced. */
  readonly names: readonly string[];
  readonly name: Buffer;
  readonly parent: Directory;
  readonly stats: Stats;
}

/** Visits the entries of a directory, each directory before its content, in the order of the names' bytes. Follows no links. */
export async function* walk(directory: Directory, depth: number, above: readonly string[] = []): AsyncGenerator<Found> {
  for (const name of await directory.names()) {
    const stats = await directory.lstat(name);
    if (stats === undefined) continue; // removed meanwhile
    const names = [...above, name.toString()];
    yield { names, name, parent: directory, stats };
    if (!stats.isDirectory() || depth <= 1) continue;
    const child = await directory.child(name);
    if (child === undefined) continue;
    try {
      yield* walk(child, depth - 1, names);
    } finally {
      await child.close();
    }
  }
}
