import { readFileSync } from "node:fs";
import { MrlmError } from "@mrlm/kit";
import { decodeUtf8, fileFault } from "@mrlm/kit/service";
import { z } from "zod";
import { english } from "./phrases/english.ts";
import { type Phrases, phraseFile } from "./phrases/phrases.ts";

/** Returns the built-in English phrases, or those of a JSON file. Throws DATA_INVALID. */
export function readPhrases(path?: string): Phrases {
  if (path === undefined) return english;
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(readFileSync(path), path));
  } catch (cause) {
    if (MrlmError.isInstance(cause)) throw cause;
    const fact = cause instanceof SyntaxError ? `is not JSON: ${cause.message}` : `cannot be read: ${fileFault(cause)}`;
    throw new MrlmError("DATA_INVALID", `The phrase file ${path} ${fact}.`, { hint: HINT, cause });
  }
  const parsed = phraseFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new MrlmError("DATA_INVALID", `${path} is not a phrase file: ${z.prettifyError(parsed.error)}`, { hint: HINT });
}

const HINT = "The README of @mrlm/judge-rules has the form of phrase files.";
