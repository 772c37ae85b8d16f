import { isObject, type JsonValue, MrlmError, type Places } from "@mrlm/kit";
import { parseJson } from "@mrlm/kit/service";
import type { Exchange, HttpRequest, HttpResponse } from "../network/http-exchange.ts";
import type { DenyList } from "../network/deny-list.ts";
import { WebError } from "../network/web-error.ts";
import { MAX_URL_CHARACTERS } from "../network/web-url.ts";
import type { SearchProvider, SearchResult } from "./search-provider.ts";

/** Form of the requests and answers of one search service. */
export interface SearchService {
  readonly name: string;
  request(query: string, count: number): Omit<HttpRequest, "maxBytes">;
  /** Returns the list of results in an answer; undefined if the answer has another form. */
  results(answer: JsonValue): JsonValue | undefined;
  /** Name of the field of a result with the passage of the page. */
  readonly snippet: string;
}

export interface HttpSearchOptions {
  readonly exchange: Exchange;
  readonly deny: DenyList;
  readonly timeoutMs: number;
  /** Requests at once. */
  readonly places: Places;
}

/** Statuses that concern the query. The policy chose it, so it reads the failure. */
const REFUSED_QUERY = new Set([400, 414, 422]);
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_SNIPPET_CHARACTERS = 500;

/** Whether an answer of a service is used. Another one makes the step unscored. */
export const isUsable = (answer: HttpResponse | undefined): boolean =>
  answer !== undefined && (answer.status === 200 || REFUSED_QUERY.has(answer.status));

/** Returns a provider that asks a search service by HTTP. Results on the deny-list are left out. Redirects are not followed: they would carry the key. */
export function httpSearch(
  service: SearchService,
  { exchange, deny, timeoutMs, places }: HttpSearchOptions,
): SearchProvider {
  const failure = (why: string, cause?: unknown): MrlmError =>
    new MrlmError("TOOL_FAILED", `The search service ${service.name} cannot be used: ${why}.`, {
      hint: "Check `search.url`, the key and its quota.",
      cause,
    });
  return {
    async search(query, { count, ...options }) {
      const request = { ...service.request(query, count), maxBytes: MAX_BYTES };
      const send = (): Promise<HttpResponse> => exchange(request, { signal: options.signal, timeoutMs });
      const response = await places.hold(options, send).catch((error: unknown) => {
        throw error instanceof WebError ? failure(error.message.replace(/\.$/, ""), error) : error;
      });
      if (REFUSED_QUERY.has(response.status))
        throw new WebError("content", `The search service refused the query with the status ${response.status}.`);
      if (response.status !== 200) throw failure(`its answer has the status ${response.status}`);
      const results = service.results(parse(response.body));
      if (!Array.isArray(results)) throw failure("its answer has no list of results");
      return results
        .flatMap((result) => toResult(result, service.snippet))
        .filter(({ url }) => !deny.has(new URL(url)))
        .slice(0, count);
    },
  };
}

function parse(body: Uint8Array): JsonValue {
  try {
    return parseJson(Buffer.from(body).toString()) as JsonValue;
  } catch {
    return null;
  }
}

function toResult(result: JsonValue, snippet: string): SearchResult[] {
  if (!isObject(result) || typeof result["url"] !== "string") return [];
  const url = URL.parse(result["url"])?.href ?? "";
  if (!/^https?:/.test(url) || url.length > MAX_URL_CHARACTERS) return [];
  const text = (value: JsonValue | undefined): string => (typeof value === "string" ? plain(value) : "");
  return [{ url, title: text(result["title"]) || url, snippet: text(result[snippet]) }];
}

/** Removes the marks of found words, and cuts long passages. */
const plain = (text: string): string =>
  text
    .slice(0, MAX_SNIPPET_CHARACTERS * 4)
    .replace(/<\/?(strong|b|em|mark)>/g, "")
    .replace(/\s+/g, " ")
    .slice(0, MAX_SNIPPET_CHARACTERS)
    .toWellFormed()
    .trim();
