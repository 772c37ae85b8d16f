import { defined, invalidRow } from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import { z } from "zod";
import { lastBox } from "./boxed.ts";
import type { Row } from "./row.ts";

/** Row of MATH (Hendrycks et al., 2021): the worked solution has its answer in `\boxed{}`. */
export const mathSchema = z.object({
  problem: z.string().min(1),
  solution: z.string(),
  level: z.string().optional(),
  type: z.string().optional(),
});

/** Reads a row. Steps are the lines of the solution without the box, because the options may ask for another place of the answer. */
export function fromMath({ problem, solution, level, type }: z.output<typeof mathSchema>, place: Place): Row {
  const box = lastBox(solution);
  if (box === undefined || box.content === "") throw invalidRow(place, "the solution has no answer in \\boxed{}");
  const steps = box.unboxed.split("\n").map((step) => step.trim());
  return {
    question: problem,
    answer: box.content,
    steps: steps.filter(Boolean),
    info: { ...defined({ level, type }) },
  };
}
