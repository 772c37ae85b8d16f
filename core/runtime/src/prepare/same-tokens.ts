import { MrlmError, type PolicyId } from "@mrlm/spec";

/** Tokenizer files of a model by name. */
export type TokenizerFiles = Readonly<Record<string, Uint8Array>>;

/** Part of tokenizer.json that maps ids to tokens. */
interface TokenizerJson {
  readonly model?: { readonly vocab?: Readonly<Record<string, number>> | readonly (readonly [string, number])[] };
  readonly added_tokens?: readonly { readonly id: number; readonly content: string }[];
}

/**
 * Throws TOKENIZER_MISMATCH unless each token id of a policy is the same token of another model, which evaluates the token ids of the policy. The other model
 * may have more tokens, and its own rules of splitting text.
 */
export function assertSameTokens(
  policy: { readonly policy: PolicyId; readonly files: TokenizerFiles },
  other: { readonly name: string; readonly files: TokenizerFiles },
): void {
  const theirs = tokensOf(other.files);
  for (const [id, token] of tokensOf(policy.files)) {
    const found = theirs.get(id);
    if (found === token) continue;
    const its = found === undefined ? "has no such id" : `has ${JSON.stringify(found)}`;
    throw new MrlmError(
      "TOKENIZER_MISMATCH",
      `The model ${other.name} reads token ids of the policy "${policy.policy}" and has another tokenizer: id ${id} of the policy is ${JSON.stringify(token)}, and the model ${its}.`,
    );
  }
}

function tokensOf(files: TokenizerFiles): ReadonlyMap<number, string> {
  const file = files["tokenizer.json"];
  if (file === undefined) return new Map();
  const { model, added_tokens: added = [] } = JSON.parse(new TextDecoder().decode(file)) as TokenizerJson;
  const vocab = model?.vocab ?? {};
  const tokens = new Map<number, string>();
  if (Array.isArray(vocab)) for (const [id, [token]] of vocab.entries()) tokens.set(id, token);
  else for (const [token, id] of Object.entries(vocab)) tokens.set(id, token);
  for (const { id, content } of added) tokens.set(id, content);
  return tokens;
}
