import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Logits of the token after each token, shape [vocabulary, vocabulary]. */
export interface Bigram {
  readonly vocabSize: number;
  readonly logits: Float64Array;
}

/** Writes a bigram table as a Hugging Face directory: the table is the head. */
export function writeBigram(directory: string, { vocabSize, logits }: Bigram, tied = false): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "config.json"), JSON.stringify({ tie_word_embeddings: tied, vocab_size: vocabSize }));
  writeFileSync(join(directory, "tokenizer.json"), "{}");
  const tensor = { dtype: "F64", shape: [vocabSize, vocabSize], data_offsets: [0, logits.byteLength] };
  const header = Buffer.from(JSON.stringify({ "lm_head.weight": tensor }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(join(directory, "model.safetensors"), Buffer.concat([length, header, new Uint8Array(logits.buffer)]));
}

/** Reads a directory that `writeBigram` wrote. */
export function readBigram(directory: string): Bigram {
  const bytes = readFileSync(join(directory, "model.safetensors"));
  const start = 8 + Number(bytes.readBigUInt64LE());
  const logits = new Float64Array(Uint8Array.from(bytes.subarray(start)).buffer);
  return { vocabSize: Math.sqrt(logits.length), logits };
}
