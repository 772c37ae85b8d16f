import { isObject, type JsonObject } from "@mrlm/kit";

/** Tokens of an answer, in `providerMetadata.mrlm`. A list is empty where the server did not return it. */
export interface MrlmMetadata {
  readonly promptTokenIds: readonly number[];
  /** Sampled tokens, with the token that ended the answer. */
  readonly tokenIds: readonly number[];
  /** Log-probability of each sampled token under the distribution that it was drawn from. */
  readonly logprobs: readonly number[];
  /** Weights that sampled the tokens `[start, end)`. */
  readonly weightVersions: readonly { readonly version: number; readonly start: number; readonly end: number }[];
}

/** Collects the tokens of a response, whole or in chunks. */
export class TokenRecord {
  readonly #promptTokenIds: unknown[] = [];
  readonly #tokenIds: unknown[] = [];
  readonly #logprobs: unknown[] = [];
  readonly #weightVersions: unknown[] = [];

  /** Adds a whole response or a chunk. Its form is that of the policy server, and of vLLM. */
  add(body: unknown): void {
    const { prompt_token_ids, choices } = membersOf(body);
    const { token_ids, logprobs, weight_versions } = membersOf(listOf(choices)[0]);
    this.#promptTokenIds.push(...listOf(prompt_token_ids));
    this.#tokenIds.push(...listOf(token_ids));
    this.#logprobs.push(...listOf(membersOf(logprobs)["content"]).map((token) => membersOf(token)["logprob"]));
    this.#weightVersions.push(...listOf(weight_versions));
  }

  /** Returns the {@link MrlmMetadata} as metadata of a provider. */
  metadata(): { mrlm: JsonObject } {
    const metadata = {
      promptTokenIds: this.#promptTokenIds,
      tokenIds: this.#tokenIds,
      logprobs: this.#logprobs,
      weightVersions: this.#weightVersions,
    };
    return { mrlm: metadata as unknown as JsonObject };
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
