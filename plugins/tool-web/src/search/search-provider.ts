import type { ToolCallOptions } from "@mrlm/kit";

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** Source of search results. */
export interface SearchProvider {
  /**
   * Searches for pages, best first.
   * @throws WebError for a query that the provider refuses, which the policy reads
   * @throws MrlmError TOOL_FAILED if the provider does not work: the step becomes unscored
   */
  search(query: string, options: { readonly count: number } & ToolCallOptions): Promise<readonly SearchResult[]>;
}
