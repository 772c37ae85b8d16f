import {
  createOpenAICompatible,
  type OpenAICompatibleProvider,
  type OpenAICompatibleProviderSettings,
} from "@ai-sdk/openai-compatible";
import { TokenRecord } from "./token-record.ts";

export type { MrlmMetadata } from "./token-record.ts";

/**
 * Returns a provider of the AI SDK for policies behind an OpenAI-shaped address: `mrlm serve --model`, or the `model` of an agent program. Each call asks for
 * the tokens of its answer, which stand in `providerMetadata.mrlm`, a {@link MrlmMetadata}. Members of `providerOptions.mrlm` become parameters of the request.
 */
export function createMrlm(
  settings: Pick<OpenAICompatibleProviderSettings, "apiKey" | "baseURL" | "fetch" | "headers">,
): OpenAICompatibleProvider {
  const { baseURL, apiKey, fetch, headers } = settings;
  return createOpenAICompatible({
    name: "mrlm",
    baseURL,
    ...(apiKey !== undefined && { apiKey }),
    ...(fetch !== undefined && { fetch }),
    ...(headers !== undefined && { headers }),
    includeUsage: true,
    supportsStructuredOutputs: true,
    // The server joins the texts of a result. Otherwise the policy would read them as JSON.
    supportsMultiPartToolContent: true,
    transformRequestBody: (body) => ({ ...body, logprobs: true, return_token_ids: true }),
    metadataExtractor: {
      async extractMetadata({ parsedBody }) {
        const record = new TokenRecord();
        record.add(parsedBody);
        return record.metadata();
      },
      createStreamExtractor() {
        const record = new TokenRecord();
        return {
          processChunk: (chunk) => record.add(chunk),
          buildMetadata: () => record.metadata(),
        };
      },
    },
  });
}
