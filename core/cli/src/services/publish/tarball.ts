import { gunzipSync } from "node:zlib";

const BLOCK = 512;

export interface PackedFile {
  /** Relative to the package: `dist/index.js`. */
  readonly path: string;
  readonly content: Buffer;
}

/** Reads the files of a tarball of npm (POSIX.1-2001 pax interchange format with long paths as extended headers). */
export function readTarball(archive: Buffer): PackedFile[] {
  const bytes = gunzipSync(archive);
  const files: PackedFile[] = [];
  let longPath: string | undefined;
  for (let at = 0; at + BLOCK <= bytes.length && bytes[at] !== 0;) {
    const field = (start: number, length: number): string =>
      bytes.toString("utf8", at + start, at + start + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(field(124, 12).trim(), 8) || 0;
    const type = field(156, 1);
    const content = bytes.subarray(at + BLOCK, at + BLOCK + size);
    const prefix = field(345, 155);
    const path = longPath ?? (prefix === "" ? field(0, 100) : `${prefix}/${field(0, 100)}`);
    longPath = type === "x" ? /\d+ path=([^\n]+)\n/.exec(content.toString("utf8"))?.[1] : undefined;
    if (type === "0" || type === "") files.push({ path: path.replace(/^[^/]+\//, ""), content });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
