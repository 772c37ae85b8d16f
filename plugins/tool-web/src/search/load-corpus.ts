import { createReadStream, type Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { buffer } from "node:stream/consumers";
import { invalidRow, isObject, type JsonlRow, MrlmError, readJsonl } from "@mrlm/kit";
import { decodeUtf8, fileFault, parseJson } from "@mrlm/kit/service";
import { convertText } from "../page/convert-text.ts";
import { WorkerFailure, type WorkerPool } from "../worker/worker-pool.ts";
import { Corpus, type CorpusPage } from "./corpus.ts";

/** Media types of the files of a corpus. Other files are left out. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html"],
  ["htm", "text/html"],
  ["md", "text/markdown"],
  ["markdown", "text/markdown"],
  ["txt", "text/plain"],
]);
/** CPU time of one page. The text of a corpus must not depend on the speed of the machine, so a page fails instead of being cut by the time. */
const CPU_MS = 30_000;
/** Files that are read and converted at once. */
const FILES_AT_ONCE = 16;
const MAX_FILE_BYTES = 5 * 1024 * 1024;

/** Conversion of the pages of a corpus. */
export interface CorpusOptions {
  readonly pool: WorkerPool;
  /** URL of the folder: `docs/a.html` becomes `<baseUrl>docs/a.html`. Rows of JSONL may state URLs of their own. */
  readonly baseUrl: string;
  readonly isMainContentOnly: boolean;
  /** Pages that are left out. */
  readonly isDenied: (url: URL) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Reads a folder of HTML, Markdown, text and JSONL files. Links and hidden files are not followed. A row of JSONL is `{ url?, title?, text | html }`.
 * @throws DATA_INVALID if the folder cannot be read, has no page, or a row has another form
 */
export async function loadCorpus(folder: string, options: CorpusOptions): Promise<Corpus> {
  const files = await listFiles(folder);
  const lists: CorpusPage[][] = [];
  for (let start = 0; start < files.length; start += FILES_AT_ONCE) {
    options.signal.throwIfAborted();
    const some = files.slice(start, start + FILES_AT_ONCE);
    lists.push(...(await Promise.all(some.map((path) => pagesOfPath(folder, path, options)))));
  }
  const pages = lists.flat();
  if (pages.length === 0)
    throw new MrlmError("DATA_INVALID", `The folder ${folder} has no page.`, {
      hint: "`search.folder` needs files that end in .html, .md, .txt or .jsonl.",
    });
  return await Corpus.of(pages);
}

async function pagesOfPath(folder: string, path: string, options: CorpusOptions): Promise<CorpusPage[]> {
  const name = relative(folder, path).split(sep).join("/");
  if (name.endsWith(".jsonl")) return await pagesOfRows(await readJsonl(path, "search.folder"), name, options);
  return await pagesOfFile(name, await buffer(createReadStream(path, { end: MAX_FILE_BYTES })), options);
}

/**
 * Builds a corpus of the files of a task. Some of them may be data for other tools: JSONL counts as pages if its first row does.
 * @throws DATA_INVALID if a further row has another form
 */
export async function corpusOfFiles(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: CorpusOptions,
): Promise<Corpus> {
  const lists = Object.keys(files)
    .toSorted()
    .map(async (name) => {
      const bytes = Buffer.from(files[name] as string | Uint8Array);
      if (name.endsWith(".jsonl")) return await pagesOfRows(rowsOf(name, decodeUtf8(bytes, name)), name, options);
      return await pagesOfFile(name, bytes, options);
    });
  return await Corpus.of((await Promise.all(lists)).flat());
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown): Dirent[] => {
    throw new MrlmError("DATA_INVALID", `The folder ${folder} cannot be read: ${fileFault(cause)}.`, {
      hint: "Check `search.folder`. It is relative to the folder of the configuration.",
      cause,
    });
  });
  const visible = entries.filter(({ name }) => !name.startsWith(".")).sort((a, b) => (a.name < b.name ? -1 : 1));
  const lists = visible.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return await listFiles(path);
    return entry.isFile() ? [path] : [];
  });
  return (await Promise.all(lists)).flat();
}

async function pagesOfFile(name: string, bytes: Uint8Array, options: CorpusOptions): Promise<CorpusPage[]> {
  const type = TYPES.get(name.split(".").at(-1)?.toLowerCase() ?? "");
  if (type === undefined) return [];
  const url = new URL(name.split("/").map(encodeURIComponent).join("/"), options.baseUrl);
  return options.isDenied(url) ? [] : [await convert({ url: url.href, bytes, type, title: "" }, options)];
}

/** Returns the rows of JSONL; none if the first one is no page. */
function rowsOf(name: string, text: string): JsonlRow[] {
  if (!isPage(text.trimStart().split("\n", 1)[0] as string)) return [];
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const place = `${name}:${index + 1}` as const;
    try {
      return [{ value: parseJson(line) as JsonlRow["value"], place }];
    } catch {
      throw invalidRow(place, "the line is not JSON");
    }
  });
}

function isPage(line: string): boolean {
  try {
    const row = parseJson(line);
    return typeof row === "object" && row !== null && ("text" in row || "html" in row);
  } catch {
    return false;
  }
}

async function pagesOfRows(rows: readonly JsonlRow[], name: string, options: CorpusOptions): Promise<CorpusPage[]> {
  const pages = rows.flatMap(({ value, place }, index) => {
    const row = isObject(value) ? value : {};
    const { html, text, title = "", url = `${name}/${index + 1}` } = row;
    const content = html ?? text;
    if (typeof content !== "string" || typeof title !== "string" || typeof url !== "string")
      throw invalidRow(
        place,
        "the row has no text",
        "A row is { url?, title?, text } or { url?, title?, html }, all strings.",
      );
    const absolute = URL.parse(url, options.baseUrl);
    if (absolute === null)
      throw invalidRow(place, "`url` is not a URL", "Write an absolute URL, or a path below `search.base_url`.");
    absolute.hash = "";
    const type = html === undefined ? "text/markdown" : "text/html";
    return options.isDenied(absolute) ? [] : [{ url: absolute.href, bytes: Buffer.from(content), type, title }];
  });
  return await Promise.all(pages.map((page) => convert(page, options)));
}

async function convert(
  { url, bytes, type, title }: { url: string; bytes: Uint8Array; type: string; title: string },
  { pool, isMainContentOnly, signal }: CorpusOptions,
): Promise<CorpusPage> {
  try {
    const page =
      type === "text/html"
        ? await pool.run(
            "convert",
            { bytes, contentType: type, url, isMainContentOnly, isPlain: false },
            { signal, cpuMs: CPU_MS },
          )
        : convertText(bytes, `${type}; charset=utf-8`);
    return { ...page, url, title: title || page.title || firstHeading(page.markdown) || url };
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error;
    throw new MrlmError("DATA_INVALID", `The page ${url} of the corpus cannot be converted: ${error.message}`, {
      cause: error,
    });
  }
}

/** Returns the first heading of a Markdown text; empty if it has none. */
const firstHeading = (markdown: string): string => /^#{1,6} (.+)$/m.exec(markdown)?.[1]?.trim() ?? "";
