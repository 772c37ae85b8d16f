import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PageFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Folder of the built page, beside this module or beside the sources. */
const FOLDER = fileURLToPath(new URL("../dist/page/", import.meta.url));

/** Reads the files of the page by their paths: `/page.js`. */
export function pageFiles(): Map<string, PageFile> {
  return new Map(
    readdirSync(FOLDER)
      .filter((name) => TYPES[extname(name)] !== undefined)
      .map((name) => {
        const bytes = readFileSync(join(FOLDER, name));
        const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 16)}"`;
        return [`/${name}`, { bytes, type: TYPES[extname(name)] as string, etag }];
      }),
  );
}
