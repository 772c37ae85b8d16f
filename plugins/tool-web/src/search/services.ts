import { isObject, type JsonValue } from "@mrlm/kit";
import type { SearchService } from "./http-search.ts";

const field = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isObject(value) ? value[name] : undefined;

/** Address of a service, with the query as parameters. */
function withQuery(base: string, path: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

const JSON_HEADERS = { accept: "application/json" };

/** Words that choose an engine, a language or a time limit of SearXNG, or redirect to a page (`!!`), instead of being searched for. */
const COMMANDS = /(?<=^|\s)[!?:<]+/g;

/** SearXNG, a search engine to host oneself. Its `settings.yml` must list the format `json`. */
export const searxng = (base: string): SearchService => ({
  name: "SearXNG",
  snippet: "content",
  request: (query) => ({
    method: "GET",
    url: withQuery(base, "/search", { q: query.replace(COMMANDS, ""), format: "json" }),
    headers: JSON_HEADERS,
  }),
  results: (answer) => field(answer, "results"),
});

/** Words of a query that Brave accepts. */
const BRAVE_WORDS = 50;

const firstWords = (text: string, count: number): string => text.trim().split(/\s+/).slice(0, count).join(" ");

/** Brave Search API. */
export const brave = (base: string, key: string): SearchService => ({
  name: "Brave",
  snippet: "description",
  request: (query, count) => ({
    method: "GET",
    url: withQuery(base, "/res/v1/web/search", { q: firstWords(query, BRAVE_WORDS), count: String(count) }),
    headers: { ...JSON_HEADERS, "x-subscription-token": key },
  }),
  results: (answer) =>
    field(answer, "web") === undefined
      ? field(answer, "query") === undefined
        ? undefined
        : []
      : field(field(answer, "web"), "results"),
});

/** Tavily Search API. */
export const tavily = (base: string, key: string): SearchService => ({
  name: "Tavily",
  snippet: "content",
  request: (query, count) => ({
    method: "POST",
    url: withQuery(base, "/search", {}),
    headers: { ...JSON_HEADERS, "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ query, max_results: count }),
  }),
  results: (answer) => field(answer, "results"),
});
