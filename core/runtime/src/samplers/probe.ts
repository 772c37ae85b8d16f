import { mix32 } from "@mrlm/kit/service";
import { type ModelId, MrlmError } from "@mrlm/spec";
import type { Sampler, SampleResult } from "@mrlm/spec/host";

/** Tokens of a prompt: more than two blocks of a prefix cache, so that a block of old weights would be used. */
const PROMPT_TOKENS = 320;
const SAMPLED_TOKENS = 32;
/** Least tokens that are compared. */
const COMPARED_TOKENS = 16;
/** Prompts that are tried until enough tokens are compared. */
const PROMPTS = 8;

export interface ProbedModel {
  readonly model: ModelId;
  readonly vocabSize: number;
  readonly maxPositions: number;
}

/** Samples the sequence of a probe: the most probable tokens after a fixed prompt. @param number of the prompt */
export async function probeSequence(sampler: Sampler, model: ProbedModel, number = 0): Promise<SampleResult> {
  const maxTokens = Math.min(SAMPLED_TOKENS, Math.max(1, model.maxPositions >> 1));
  const prompt = Int32Array.from(
    { length: Math.max(1, Math.min(PROMPT_TOKENS, model.maxPositions - maxTokens)) },
    (_, i) => (mix32(i + number * PROMPT_TOKENS) >>> 0) % model.vocabSize,
  );
  const params = { temperature: 0, maxTokens, stopTokenIds: [] };
  const result = sampler.sample({ prompt, params, key: 0n });
  sampler.barrier();
  return await result;
}

/** Samples the sequence of a probe from the published weights. Rejects with WEIGHTS_VERSION if those are of another version. */
export async function referenceSequence(
  trainer: Sampler,
  model: ProbedModel,
  version: number,
  number = 0,
): Promise<SampleResult> {
  // The trainer's sampler holds the published weights; its trained ones may have moved on.
  const expected = await probeSequence(trainer, model, number);
  if (expected.versions.every((each) => each === version)) return expected;
  throw new MrlmError("WEIGHTS_VERSION", `The trainer has published other weights than version ${version}.`);
}

/**
 * Returns the largest difference in nats between the log-probabilities of two samplers. Each samples the most probable tokens. After the first token in which they
 * differ a sequence is left: of equal weights, the two tokens have nearly equal probabilities, which are compared too.
 *
 * `first` is the trainer's first sequence. Rejects with WEIGHTS_VERSION where another one is needed and the trainer has published other weights meanwhile, and with
 * SAMPLER_INVALID for a version that the sampler was not given.
 */
export async function probeDifference(
  { trainer, sampler, first }: { readonly trainer: Sampler; readonly sampler: Sampler; readonly first: SampleResult },
  model: ProbedModel,
  version: number,
): Promise<number> {
  let largest = 0;
  let compared = 0;
  for (let number = 0; number < PROMPTS && compared < COMPARED_TOKENS; number++) {
    const expected = number === 0 ? first : await referenceSequence(trainer, model, version, number);
    const found = await probeSequence(sampler, model, number);
    if (found.tokens.length !== expected.tokens.length || !found.versions.every((each) => each === version))
      throw new MrlmError(
        "SAMPLER_INVALID",
        `A probe has ${found.tokens.length} tokens of versions ${[...new Set(found.versions)].join(", ")} in place of ${expected.tokens.length} of version ${version}.`,
      );
    const other = found.tokens.findIndex((token, i) => token !== expected.tokens[i]);
    const count = other < 0 ? found.tokens.length : other + 1;
    for (let i = 0; i < count; i++)
      largest = Math.max(largest, Math.abs((found.logprobs[i] as number) - (expected.logprobs[i] as number)));
    compared += count;
  }
  return compared === 0 ? Number.POSITIVE_INFINITY : largest;
}
