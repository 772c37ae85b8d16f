import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";
import { MrlmError } from "@mrlm/spec";

/** Largest number of files, and of bytes of the archive, of a form without ZIP64. */
const [MOST_FILES, MOST_BYTES] = [0xffff, 0xffffffff];
/** 1 January 1980, the first day of the form: equal contents give equal archives. */
const DATE = 0x21;
/** Names are UTF-8. */
const UTF8 = 0x800;
const DEFLATED = 8;
const VERSION = 20;

/** ZIP archive (APPNOTE 6.3.10, without ZIP64) that is written file by file. The path names it when it is complete. */
export class ZipFile {
  readonly #path: string;
  readonly #file: number;
  readonly #directory: Buffer[] = [];
  #end = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(`${path}.partial`, "w");
  }

  /** Adds a file. Throws USAGE where the archive would be too large. */
  add(name: string, text: string): void {
    const content = Buffer.from(text);
    const deflated = deflateRawSync(content);
    const title = Buffer.from(name);
    if (this.#directory.length === MOST_FILES || this.#end + deflated.length + title.length + 30 > MOST_BYTES)
      throw new MrlmError("USAGE", `${this.#path} would have more than ${MOST_FILES} episodes or 4 GiB.`, {
        hint: "Evaluate fewer tasks or samples.",
      });
    // Fields that the local header and the central directory have in common.
    const common = Buffer.alloc(26);
    for (const [i, value] of [VERSION, UTF8, DEFLATED, 0, DATE].entries()) common.writeUInt16LE(value, 2 * i);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(deflated.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(title.length, 22);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50);
    entry.writeUInt16LE(VERSION, 4);
    common.copy(entry, 6);
    entry.writeUInt32LE(this.#end, 42);
    this.#directory.push(Buffer.concat([entry, title]));
    this.#write(Buffer.from([0x50, 0x4b, 3, 4]), common, title, deflated);
  }

  /** Writes the central directory, and gives the archive its name. */
  close(): void {
    const begin = this.#end;
    this.#write(...this.#directory);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50);
    end.writeUInt16LE(this.#directory.length, 8);
    end.writeUInt16LE(this.#directory.length, 10);
    end.writeUInt32LE(this.#end - begin, 12);
    end.writeUInt32LE(begin, 16);
    this.#write(end);
    closeSync(this.#file);
    renameSync(`${this.#path}.partial`, this.#path);
  }

  /** Removes what was written. */
  discard(): void {
    closeSync(this.#file);
    rmSync(`${this.#path}.partial`, { force: true });
  }

  #write(...parts: readonly Buffer[]): void {
    for (const part of parts) {
      for (let done = 0; done < part.length;) done += writeSync(this.#file, part, done);
      this.#end += part.length;
    }
  }
}
