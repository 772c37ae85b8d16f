import { readJsonl, score } from "@mrlm/kit";
import { parseRow } from "@mrlm/kit/options";
import { z } from "zod";
import type { Case } from "./case.ts";
import type { CasesOptions } from "./options.ts";
import { expectedText, readPrompt } from "./prompt.ts";

const rowSchema = z.object({
  input: z.unknown().optional(),
  expected: z.union([z.string().min(1), z.number()], "must be a text or a number"),
});

/** Reads the cases of a JSONL file. Rejects with DATA_INVALID, with file and line. */
export async function readRows(
  path: string,
  { scorer, schema }: { readonly scorer: string | undefined; readonly schema: CasesOptions["schema"] },
): Promise<Case[]> {
  return (await readJsonl(path, "data.path")).map(({ value, place }): Case => {
    const row = parseRow(rowSchema, value, place);
    const expected = expectedText(row.expected) as string;
    const messages = readPrompt(row.input, place);
    const question = typeof row.input === "string" ? row.input : JSON.stringify(row.input);
    return {
      ...{ messages, expected, place },
      grade: async (answer, { context, signal }) =>
        scorer === undefined
          ? score(answer.trim() === expected.trim() ? 1 : 0)
          : (await context.scorer(scorer).score({ answer, expected, schema, question, signal })).reward,
    };
  });
}
