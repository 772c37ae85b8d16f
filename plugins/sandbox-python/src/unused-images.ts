import { readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";

const HOUR_MS = 3_600_000;
/** Much longer than a living process lets pass between two marks. */
const UNUSED_MS = 24 * HOUR_MS;
/** Images, and what an interrupted write has left of one. */
const NAME = /^pyodide-[0-9a-f]+\.image(\.\d+\.part)?$/;

let marking: NodeJS.Timeout | undefined;

/** Marks an image as in use, now and for as long as this process lives: its time of change is when somebody used it last. */
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
    // Somebody else's, or gone: whoever needs it next makes it anew.
  }
}
