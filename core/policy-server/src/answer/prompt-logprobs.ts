import type { CompletionRequest } from "../api/completion-request.ts";
import type { ServedPolicy } from "../served-policy.ts";

/**
 * Returns the log-probability of each token of the prompts at the temperature of the request (1 for temperature 0); null for the first token of each, which nothing
 * precedes.
 */
export async function promptLogprobs(
  policy: ServedPolicy,
  prompts: readonly { readonly tokens: Int32Array }[],
  { temperature = 1 }: Pick<CompletionRequest, "temperature">,
  signal: AbortSignal,
): Promise<(number | null)[][]> {
  const units = prompts.map(({ tokens }) => ({
    sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => Number(i > 0)) }],
  }));
  const outputs = await policy.engine.forward({
    model: policy.model,
    units,
    outputs: { logprob: true },
    temperature: temperature === 0 ? 1 : temperature,
    signal,
  });
  return outputs.map(({ logprob }) => [null, ...(logprob ?? [])]);
}
