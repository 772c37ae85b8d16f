import type { ToolCallOptions } from "@mrlm/kit";

/** Page that the tool `fetch` returns in parts. */
export interface ReadablePage {
  /** URL after redirects. */
  readonly url: string;
  readonly title: string;
  readonly markdown: string;
  readonly isTruncated: boolean;
  readonly notes: readonly string[];
}

/**
 * Gets pages by their URL.
 * @throws WebError for a page that cannot be read, which the policy reads
 */
export type PageSource = (url: string, options: ToolCallOptions) => Promise<ReadablePage>;
