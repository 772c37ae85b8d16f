import type { JsonValue } from "@mrlm/spec";
import type { SearchService } from "./http-search.ts";

const field = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;

/** Address of a service, with the query as parameters. */
function withQuery(base: string, path: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/$/, "")}${path}`;
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

const JSON_HEADERS = { accept: "application/json" };

/** SearXNG, a search engine to host oneself. Its `settings.yml` must list the format `json`. */
export const searxng = (base: string): SearchService => ({
  name: "SearXNG",
  snippet: "content",
  request: (query) => ({
    method: "GET",
    url: withQuery(base, "/search", { q: query, format: "json" }),
    headers: JSON_HEADERS,
  }),
  results: (answer) => field(answer, "results"),
});

/** Brave Search API. */
export const brave = (base: string, key: string): SearchService => ({
  name: "Brave",
  snippet: "description",
  request: (query, count) => ({
    method: "GET",
    url: withQuery(base, "/res/v1/web/search", { q: query, count: String(count) }),
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
