import type { JsonObject, Tool, ToolCallOptions, ToolDefinition } from "@mrlm/kit";
import type { SearchProvider, SearchResult } from "../search/search-provider.ts";
import { WebError } from "../network/web-error.ts";
import { errorResult, textResult } from "./result.ts";

const DEFAULT_COUNT = 5;

const parameters: JsonObject = {
  type: "object",
  properties: {
    query: { type: "string", minLength: 1, maxLength: 400, description: "Words to search for." },
    count: { type: "integer", minimum: 1, maximum: 20, description: `Number of results. Default ${DEFAULT_COUNT}.` },
  },
  required: ["query"],
  additionalProperties: false,
};

export const searchDefinition: ToolDefinition = {
  name: "search",
  description: "Searches for pages. Returns titles, URLs and short passages. Open a page with the tool `fetch`.",
  parameters,
};

/** Returns the tool `search`. */
export function searchTool(provider: (options: ToolCallOptions) => Promise<SearchProvider>, timeoutMs: number): Tool {
  return {
    ...searchDefinition,
    timeoutMs,
    async call(args, options) {
      const { query, count = DEFAULT_COUNT } = args as { query: string; count?: number };
      if (query.trim() === "") return errorResult("The query has no word.");
      const source = await provider(options);
      let results: readonly SearchResult[];
      try {
        results = await source.search(query, { ...options, count });
      } catch (error) {
        if (error instanceof WebError) return errorResult(error.message);
        throw error;
      }
      if (results.length === 0) return textResult("No page was found. Try other words.");
      return textResult(
        results
          .map(({ title, url, snippet }, index) => `${index + 1}. ${title}\n   ${url}\n   ${snippet}`)
          .join("\n\n"),
      );
    },
  };
}
