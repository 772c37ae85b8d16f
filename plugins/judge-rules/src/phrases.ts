import { readFileSync } from "node:fs";
import { fileFault, MrlmError } from "@mrlm/spec";
import { z } from "zod";
import { english } from "./english.ts";

const phrases = z.array(z.string().min(1));

/** Schema of a phrase file. All phrases are compared without case. */
const phraseFile = z.strictObject({
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

/** Returns the built-in English phrases, or those of a JSON file. Throws DATA_INVALID. */
export function readPhrases(path?: string): Phrases {
  if (path === undefined) return english;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    const fact = cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : `cannot be read: ${fileFault(cause)}`;
    throw new MrlmError("DATA_INVALID", `The phrase file ${path} ${fact}.`, { hint: HINT, cause });
  }
  const parsed = phraseFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MrlmError("DATA_INVALID", `${path} is not a phrase file: ${z.prettifyError(parsed.error)}`, { hint: HINT });
}

const HINT = "The README of @mrlm/judge-rules has the form of phrase files.";
