import { anthropicMessages } from "./anthropic-messages.ts";
import type { Codec } from "./codec.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

/** Forms of the APIs of models. */
export const CODECS: readonly Codec[] = [openaiChat, openaiResponses, anthropicMessages];

/**
 * Returns the form of the API that has a path; of a path that several have, by whether the request is Anthropic's, else OpenAI's.
 * @param path after the base URL
 * @param isAnthropic whether the request has the header `anthropic-version`
 */
export function codecOf(path: string, isAnthropic = false): Codec {
  const own = CODECS.find((each) => path === each.path || path.startsWith(`${each.path}/`));
  return own ?? (isAnthropic ? anthropicMessages : openaiChat);
}
