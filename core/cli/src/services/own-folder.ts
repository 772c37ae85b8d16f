import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "@mrlm/runtime";

/** Use of a folder: files of `mrlm play`, or the address of a store server. */
type Purpose = "play" | "store";

/** Makes a temporary folder of this process, which its user alone can read. Removes those of killed processes. */
export function ownFolder(purpose: Purpose): string {
  for (const { path, isRunning } of folders(purpose)) {
    if (isRunning) continue;
    try {
      rmSync(path, { recursive: true });
    } catch {
      // It is of another user, who removes it.
    }
  }
  return mkdtempSync(join(tmpdir(), `${prefixOf(purpose)}${process.pid}-`));
}

/** Returns the folders that running processes of this user have made on this machine. */
export function ownFolders(purpose: Purpose): string[] {
  const user = process.getuid?.();
  return folders(purpose).flatMap(({ path, isRunning }) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const isOwn = stat?.isDirectory() === true && (user === undefined || stat.uid === user);
    return isRunning && isOwn ? [path] : [];
  });
}

function folders(purpose: Purpose): { readonly path: string; readonly isRunning: boolean }[] {
  const prefix = prefixOf(purpose);
  return readdirSync(tmpdir()).flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const [pid] = /^\d+(?=-)/.exec(name.slice(prefix.length)) ?? [];
    return [{ path: join(tmpdir(), name), isRunning: pid === undefined || isAlive(Number(pid)) }];
  });
}

function prefixOf(purpose: Purpose): string {
  return `mrlm-${purpose}-${hostname()}-`;
}
