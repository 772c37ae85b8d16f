import type { Directory, Name } from "./directory.ts";

/** Bytes of files and number of entries. */
export interface Usage {
  readonly bytes: number;
  readonly entries: number;
}

/** Removes an entry with all that it contains, and returns the size of what it removed. Follows no links. */
export async function removeEntry(parent: Directory, name: Name): Promise<Usage> {
  const stats = await parent.lstat(name);
  if (stats === undefined) return { bytes: 0, entries: 0 };
  const directory = stats.isDirectory() ? await parent.child(name) : undefined;
  if (directory === undefined) {
    await parent.unlink(name);
    return { bytes: stats.isFile() ? stats.size : 0, entries: 1 };
  }
  let bytes = 0;
  let entries = 1;
  try {
    for (const child of await directory.names()) {
      const removed = await removeEntry(directory, child);
      bytes += removed.bytes;
      entries += removed.entries;
    }
  } finally {
    await directory.close();
  }
  await parent.removeDirectory(name);
  return { bytes, entries };
}
