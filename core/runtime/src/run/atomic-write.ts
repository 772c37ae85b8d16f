import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";

/**
 * Writes a file atomically: afterwards it is on the disk completely, or not at all.
 * @param mode permissions of a new file; default: those of the process
 */
export function writeAtomically(path: string, content: string | Uint8Array, mode?: number): void {
  const temporary = `${path}.partial`;
  const file = openSync(temporary, "w", mode);
  try {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameAtomically(temporary, path);
}

/** Creates a directory and its missing parents. Node's recursive option does not return where the system answers ENOENT for an existing directory, as below /proc. */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return;
  makeDirectory(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process created it first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Renames a file and waits until its directory is on the disk. */
export function renameAtomically(from: string, to: string): void {
  renameSync(from, to);
  syncToDisk(dirname(to));
}

/** Waits until a file or directory is on the disk. */
export function syncToDisk(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Lists the files below a directory, relative to it, sorted. */
export function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

/** Returns the SHA-256 of a file, in hexadecimal. */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
