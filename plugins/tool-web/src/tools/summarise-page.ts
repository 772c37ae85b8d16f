import { defined, MrlmError, textMessage, type ToolCallOptions } from "@mrlm/kit";
import { dataRules, encodeData, type ModelClient } from "@mrlm/model-client";
import type { WebToolOptions } from "../options.ts";
import type { ReadablePage } from "./page-source.ts";

type SummaryOptions = Omit<NonNullable<WebToolOptions["summary"]>, "endpoint">;

/** Returns the summary of a long page; undefined for a shorter one. */
export type Summarise = (page: ReadablePage, options: ToolCallOptions) => Promise<string | undefined>;

/**
 * Returns summaries by a model. The page is data for the model: text in it cannot end the data.
 * @throws ENDPOINT_*: without its summary the result of a call is not known
 */
export function pageSummary(client: ModelClient, options: SummaryOptions): Summarise {
  const { above_characters, max_input_characters, max_tokens, deadline_ms } = options;
  return async ({ url, title, markdown }, { signal, queued }) => {
    if (markdown.length <= above_characters) return undefined;
    const data = encodeData([{ url, title }, { text: markdown.slice(0, max_input_characters) }], "summary");
    const system = `You summarise a page of the web for a reader who searches for facts. Keep names, numbers, dates and what the page states about them. Add nothing that it does not state. Write plain text of at most ${Math.floor(max_tokens / 2)} words.

${dataRules(data, "The page")}`;
    const { text, finishReason, model } = await client.complete(
      {
        messages: [textMessage("system", system), textMessage("user", data.text)],
        maxTokens: max_tokens,
      },
      { signal, deadlineMs: deadline_ms, ...defined({ queued }) },
    );
    if (text.trim() === "")
      throw new MrlmError(
        "ENDPOINT_OUTPUT_EMPTY",
        `The model ${model} returned no summary of ${url} (${finishReason}).`,
      );
    return finishReason === "length" ? `${text.trim()} [The summary is cut.]` : text.trim();
  };
}
