import { isAbsolute, relative, resolve } from "node:path";

/** Formats a path for a shell: relative below the working directory, else absolute; quoted if a shell would split it. */
export function shownPath(path: string, from: string = process.cwd()): string {
  const way = relative(from, resolve(from, path));
  const shown = way === "" ? "." : way.startsWith("..") || isAbsolute(way) ? resolve(from, path) : way;
  return /[^\w@%+=:,./\\-]/.test(shown) ? `'${shown.replaceAll("'", "'\\''")}'` : shown;
}
