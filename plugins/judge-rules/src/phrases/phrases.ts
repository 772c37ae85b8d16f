import { z } from "zod";

const phrases = z.array(z.string().min(1));

/** Schema of a phrase file. All phrases are compared without case. */
export const phraseFile = z.strictObject({
  language: z.string().min(1),
  /** Words of the grammar, such as "the", "of", "is". */
  function_words: phrases.min(1),
  /** Words that fit every topic, such as "important", "people", "argument". */
  generic: phrases,
  evidence: phrases.min(1),
  reasoning: phrases.min(1),
  structure: phrases.min(1),
  /** Phrases that give the other side right, such as "i concede". */
  concession: phrases,
  /** Endings that words lose before they are compared, such as "ing". */
  endings: phrases.default([]),
  /** Letters by which words are compared. */
  stem_length: z.int().min(2).max(30).default(6),
});

/** Phrases of one language. */
export type Phrases = z.output<typeof phraseFile>;
