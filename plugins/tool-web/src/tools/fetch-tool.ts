import type { JsonObject, Tool, ToolDefinition, ToolResult } from "@mrlm/kit";
import { WebError } from "../network/web-error.ts";
import type { PageSource, ReadablePage } from "./page-source.ts";
import { errorResult, textResult } from "./result.ts";
import type { Summarise } from "./summarise-page.ts";

const parameters: JsonObject = {
  type: "object",
  properties: {
    url: {
      type: "string",
      minLength: 1,
      maxLength: 2048,
      description: "Absolute URL of the page, with http or https.",
    },
    part: { type: "integer", minimum: 1, maximum: 100_000, description: "Part of a long page. Default 1." },
  },
  required: ["url"],
  additionalProperties: false,
};

export const fetchDefinition = ({ hasSummaries }: { readonly hasSummaries: boolean }): ToolDefinition => ({
  name: "fetch",
  description: hasSummaries
    ? "Opens a page and returns its text as Markdown. Of a long page it returns a summary: read its text by its parts."
    : "Opens a page and returns its text as Markdown. A long page has several parts.",
  parameters,
});

/** Characters of the pages of one episode that are kept for their further parts, beside the last page. */
const MAX_KEPT_CHARACTERS = 200_000;

/** Longest UTF-8 encoding of one UTF-16 code unit. */
const BYTES_PER_CHARACTER = 3;
/** Bytes for the title, the URL and the notes beside a part. */
const HEAD_BYTES = 16 * 1024;

export interface FetchToolOptions {
  /** Characters of one part of a page. */
  readonly partCharacters: number;
  /** Limit of one call. */
  readonly timeoutMs: number;
  /** Summarises long pages that are opened without a part. */
  readonly summarise?: Summarise | undefined;
}

/** Returns the tool `fetch` of one episode. The parts of a page come from one reading of it. */
export function fetchTool(source: PageSource, { partCharacters, timeoutMs, summarise }: FetchToolOptions): Tool {
  const kept = new KeptPages();
  return {
    ...fetchDefinition({ hasSummaries: summarise !== undefined }),
    timeoutMs,
    outputBytes: partCharacters * BYTES_PER_CHARACTER + HEAD_BYTES, // a part is never cut
    async call(args, options) {
      const { url, part } = args as { url: string; part?: number };
      let page: ReadablePage;
      try {
        page = (part !== undefined ? kept.get(url) : undefined) ?? (await source(url, options));
      } catch (error) {
        if (error instanceof WebError) return errorResult(`${url} cannot be read. ${error.message}`);
        throw error;
      }
      if (page.markdown.length > partCharacters) kept.add(url, page);
      const summary = part === undefined ? await summarise?.(page, options) : undefined;
      return summary === undefined
        ? resultOf(page, part ?? 1, partCharacters)
        : summaryOf(page, summary, splitParts(page.markdown, partCharacters).length);
    },
  };
}

/** The pages that an episode read last. */
class KeptPages {
  readonly #pages = new Map<string, ReadablePage>();

  get(url: string): ReadablePage | undefined {
    return this.#pages.get(url);
  }

  add(url: string, page: ReadablePage): void {
    this.#pages.delete(url); // the most recent page is the last key
    let characters = [...this.#pages.values()].reduce((sum, { markdown }) => sum + markdown.length, 0);
    for (const [oldest, { markdown }] of this.#pages) {
      if (characters <= MAX_KEPT_CHARACTERS) break;
      this.#pages.delete(oldest);
      characters -= markdown.length;
    }
    this.#pages.set(url, page);
  }
}

function resultOf(
  { url, title, markdown, isTruncated, notes }: ReadablePage,
  part: number,
  partCharacters: number,
): ToolResult {
  const parts = splitParts(markdown, partCharacters);
  const text = parts[part - 1];
  if (text === undefined)
    return errorResult(
      `The page ${url} has ${parts.length === 1 ? "one part" : `${parts.length} parts`}, and no part ${part}.`,
    );
  const head = [
    ...headOf({ url, title }),
    parts.length === 1 ? undefined : `Part ${part} of ${parts.length}.`,
    ...notes,
  ];
  const isLast = part === parts.length;
  const foot = [
    !isLast ? `[Continue with part ${part + 1}.]` : undefined,
    isLast && isTruncated ? "[The page was cut at a size limit.]" : undefined,
  ];
  return textResult(blocks(head, text.trim() === "" ? "(The page has no text.)" : text, foot), {
    isTruncated: isLast && isTruncated,
  });
}

function summaryOf(page: ReadablePage, summary: string, parts: number): ToolResult {
  const head = [...headOf(page), ...page.notes, "Summary of the page by a model:"];
  const text = parts === 1 ? "`part` 1" : `\`part\` 1 to ${parts}`;
  return textResult(blocks(head, summary, [`[The text of the page is read with ${text}.]`]));
}

const headOf = ({ url, title }: Pick<ReadablePage, "url" | "title">): string[] => [
  ...(title === "" ? [] : [`Title: ${title}`]),
  `URL: ${url}`,
];

function blocks(head: readonly (string | undefined)[], text: string, foot: readonly (string | undefined)[]): string {
  const lines = (list: readonly (string | undefined)[]): string => list.filter((line) => line !== undefined).join("\n");
  return [lines(head), text, lines(foot)].filter((block) => block !== "").join("\n\n");
}

/** Distance from the end of a part within which a better place for the end is searched, as a share of the part. */
const SEARCH_SHARE = 0.25;

/** Splits a text into parts of at most `size` characters, at the end of a paragraph, a line or a word where there is one near the limit. */
export function splitParts(text: string, size: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > size) {
    const end = start + size;
    const earliest = end - Math.floor(size * SEARCH_SHARE);
    const found = ["\n\n", "\n", " "]
      .map((mark) => text.lastIndexOf(mark, end - mark.length) + mark.length)
      .find((place) => place > earliest);
    const isInPair = /[\ud800-\udbff]/.test(text[end - 1] ?? "");
    const place = found ?? (isInPair ? end - 1 : end);
    parts.push(text.slice(start, place).trimEnd());
    start = place;
  }
  parts.push(text.slice(start));
  return parts;
}
