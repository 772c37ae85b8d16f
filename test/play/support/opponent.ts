import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import type { JsonObject } from "@mrlm/spec";
import { BigramEngine } from "@mrlm/testing";

/** Tokenizer of the opponent: the characters of the policy's with other ids. */
export const RIVAL_TOKENIZER = { alphabet: "9876543210dcba-+*", tags: [] };

/** Writes a bigram model to a new directory. Its tokenizer has the same characters as that of the policy, with other ids. */
export async function opponentDirectory(changes: JsonObject = {}): Promise<string> {
  const path = join(mkdtempSync(join(tmpdir(), "mrlm-opponent-")), "rival");
  const engine = new BigramEngine();
  const tokenizerFiles = characterTokenizerFiles(RIVAL_TOKENIZER);
  const config = { initializer_range: 0.5, vocab_size: 6 + 17, eos_token_id: 1, pad_token_id: 0, ...changes };
  await engine.createModel({
    model: "rival",
    role: "policy",
    trainable: false,
    source: { kind: "random", config, seed: 5, tokenizerFiles },
  });
  await engine.export("rival", path);
  return path;
}
