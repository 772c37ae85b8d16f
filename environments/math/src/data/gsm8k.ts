import { invalidRow } from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { Row } from "./row.ts";

/** Row of GSM8K: the worked solution ends with `#### 18` and has annotations such as `<<9*2=18>>`. */
export const gsm8kSchema = z.object({ question: z.string().min(1), answer: z.string() });

/** Reads a row. Steps omit the annotations, which repeat the text around them. */
export function fromGsm8k({ question, answer }: z.output<typeof gsm8kSchema>, place: Place): Row {
  const end = answer.lastIndexOf("####");
  const expected = end < 0 ? "" : answer.slice(end + 4).trim();
  if (expected === "") throw invalidRow(place, "the answer has no final line `#### ANSWER`");
  const steps = answer
    .slice(0, end)
    .replaceAll(/<<[^<>]*>>/g, "")
    .split("\n");
  return { question, answer: expected, steps: steps.map((step) => step.trim()).filter(Boolean), info: {} };
}
