import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
/** Age of an unused image, much longer than the interval between two marks of a process. */
const UNUSED_MS = 24 * HOUR_MS;
/** Names of images and of partial files of interrupted writes. */
const NAME = /^pyodide-[0-9a-f]+\.image(\.\d+\.part)?$/;

let marking: NodeJS.Timeout | undefined;

/** Marks an image as in use until this process exits: its modification time is that of its last use. */
export function keepInUse(path: string): void {
  clearInterval(marking);
  marking = setInterval(() => mark(path), HOUR_MS).unref();
  mark(path);
}

/** Removes the images of other versions that no process has used for a day. */
export function removeUnusedImages(folder: string, now = Date.now()): void {
  for (const name of readdirSync(folder).filter((each) => NAME.test(each))) {
    const path = join(folder, name);
    const changed = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - changed > UNUSED_MS) rmSync(path, { force: true });
  }
}

function mark(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Owned by another user, or already removed. The next process that needs it makes it again.
  }
}
