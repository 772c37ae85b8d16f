import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEnd } from "./before-end.ts";
import { guard } from "./guardian.ts";
import { runsSince, startTimeOf } from "./running.ts";

/** Folder of temporary files that only this user can open. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): void;
}

/**
 * Makes a temporary folder of this process. It is removed by `remove`, at the end of this process, or after it where that was killed; at the latest by the
 * next process that makes one for the same purpose, because its name states its owner.
 * @param purpose letters and hyphens
 */
export function temporaryFolder(purpose: string): TemporaryFolder {
  for (const { path, isOwned } of foldersOf(purpose)) if (!isOwned) removeFolder(path);
  const path = mkdtempSync(join(tmpdir(), `${prefixOf(purpose)}${process.pid}-${startTimeOf(process.pid) ?? 0}-`));
  const release = guard({ folder: basename(path) });
  const remove = (): void => {
    keep();
    removeFolder(path);
    release();
  };
  const keep = beforeEnd(remove);
  return { path, remove };
}

/** Returns the folders that running processes of this user have made for a purpose on this machine. */
export function temporaryFolders(purpose: string): string[] {
  const user = process.getuid?.();
  return foldersOf(purpose).flatMap(({ path, isOwned }) => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return isOwned && stat?.isDirectory() === true && (user === undefined || stat.uid === user) ? [path] : [];
  });
}

/** Lists the folders of a purpose. */
function foldersOf(purpose: string): { readonly path: string; readonly isOwned: boolean }[] {
  const prefix = prefixOf(purpose);
  return readdirSync(tmpdir()).flatMap((name) => {
    if (!name.startsWith(prefix)) return [];
    const [, pid, started] = /^(\d+)-(?:(\d+)-)?/.exec(name.slice(prefix.length)) ?? [];
    return [{ path: join(tmpdir(), name), isOwned: pid === undefined || runsSince(Number(pid), Number(started ?? 0)) }];
  });
}

function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  } catch {
    // It is of another user, who removes it, or a process that is killed next still writes to it.
  }
}

function prefixOf(purpose: string): string {
  return `mrlm-${purpose}-${hostname()}-`;
}
