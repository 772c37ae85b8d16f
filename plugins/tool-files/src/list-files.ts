import type { FileTree } from "./file-tree.ts";

/** Entries that one list shows. */
const MAX_ENTRIES = 2_000;

/** Lists a directory, one entry per line: `src/` for a directory, `src/a.txt (12 bytes)` for a file. */
export async function listFiles(tree: FileTree, path: string, isRecursive: boolean): Promise<string> {
  const lines: string[] = [];
  for await (const { names, stats } of tree.entries(path, isRecursive ? undefined : 1)) {
    if (lines.length === MAX_ENTRIES) {
      lines.push(`[more than ${MAX_ENTRIES} entries: list a directory below]`);
      break;
    }
    const name = showPath(names);
    if (stats.isDirectory()) lines.push(`${name}/`);
    else lines.push(`${name} (${stats.isFile() && stats.nlink === 1 ? `${stats.size} bytes` : "not accessible"})`);
  }
  return lines.length === 0 ? "The directory is empty." : lines.join("\n");
}

/** Returns a path in one line. Only programs other than the tools create names with control characters. */
export function showPath(names: readonly string[]): string {
  const path = names.join("/");
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(path) ? JSON.stringify(path) : path;
}
