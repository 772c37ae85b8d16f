import type { CompletionRequest } from "../api/completion-request.ts";
import type { AnswerContext } from "./answer-context.ts";

/**
 * Returns the log-probability of each token of the prompts at the temperature of the request (1 for temperature 0); null for the first token of each, which nothing
 * precedes. The request counts as one sequence of the queue. Throws ApiError with status 429.
 */
export async function promptLogprobs(
  { policy, admission, signal }: AnswerContext,
  prompts: readonly { readonly tokens: Int32Array }[],
  { temperature = 1 }: Pick<CompletionRequest, "temperature">,
): Promise<(number | null)[][]> {
  const units = prompts.map(({ tokens }) => ({
    sequences: [{ tokens, mask: Uint8Array.from(tokens, (_, i) => Number(i > 0)) }],
  }));
  admission.admit(1);
  const outputs = await admission.run(
    signal,
    async () =>
      await policy.engine.forward({
        model: policy.model,
        units,
        outputs: { logprob: true },
        temperature: temperature === 0 ? 1 : temperature,
        signal,
      }),
  );
  return outputs.map(({ logprob }) => [null, ...(logprob ?? [])]);
}
