import { MrlmError } from "@mrlm/kit";
import MiniSearch from "minisearch";
import type { SearchProvider, SearchResult } from "./search-provider.ts";

export interface CorpusPage {
  readonly url: string;
  readonly title: string;
  readonly markdown: string;
  readonly isTruncated: boolean;
  readonly notes: readonly string[];
}

/** Pages that are indexed without a pause. */
const PAGES_AT_ONCE = 50;
const SNIPPET_CHARACTERS = 240;

/** Pages in memory with a full-text index. The same pages, in the same order, give the same results. */
export class Corpus implements SearchProvider {
  readonly #pages = new Map<string, CorpusPage>();
  readonly #index = new MiniSearch<CorpusPage>({ idField: "url", fields: ["title", "markdown"], storeFields: [] });

  /**
   * Indexes pages, in parts between which the event loop runs.
   * @throws DATA_INVALID if two pages have one URL
   */
  static async of(pages: readonly CorpusPage[]): Promise<Corpus> {
    const corpus = new Corpus();
    for (const page of pages) {
      if (corpus.#pages.has(page.url))
        throw new MrlmError("DATA_INVALID", `Two pages of the corpus have the URL ${page.url}.`, {
          hint: "Remove one of them, or give it another `url`.",
        });
      corpus.#pages.set(page.url, page);
    }
    await corpus.#index.addAllAsync(pages, { chunkSize: PAGES_AT_ONCE });
    return corpus;
  }

  /** Returns the page with a URL in the form of `URL.href`. */
  page(url: string): CorpusPage | undefined {
    return this.#pages.get(url);
  }

  async search(query: string, { count }: { readonly count: number }): Promise<SearchResult[]> {
    const found = this.#index.search(query, { boost: { title: 2 }, combineWith: "OR" });
    // Equal scores are ordered by URL, independent of the order in the index.
    const ordered = found.sort((a, b) => b.score - a.score || (String(a.id) < String(b.id) ? -1 : 1));
    return ordered.slice(0, count).map(({ id, terms }) => {
      const { url, title, markdown } = this.#pages.get(String(id)) as CorpusPage;
      return { url, title, snippet: snippetOf(markdown, terms) };
    });
  }
}

/** Returns the passage around the first line with the most of the terms. */
function snippetOf(markdown: string, terms: readonly string[]): string {
  const lines = markdown.split("\n").filter((line) => line.trim() !== "");
  const scores = lines.map((line) => {
    const lower = line.toLowerCase();
    return terms.filter((term) => lower.includes(term)).length;
  });
  const best = lines[scores.indexOf(scores.reduce((most, score) => Math.max(most, score), 0))] ?? "";
  const first = terms.map((term) => best.toLowerCase().indexOf(term)).filter((place) => place >= 0);
  const start = best.length <= SNIPPET_CHARACTERS ? 0 : Math.max(0, Math.min(...first, best.length) - 60);
  const text = best
    .slice(start, start + SNIPPET_CHARACTERS)
    .toWellFormed()
    .trim();
  return `${start > 0 ? "…" : ""}${text}${start + SNIPPET_CHARACTERS < best.length ? "…" : ""}`;
}
