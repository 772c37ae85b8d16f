import { answerPlace } from "@mrlm/kit";
import { dataFile } from "@mrlm/kit/options";
import { z } from "zod";

/** Options of `cases@1`. */
export const casesOptions = z.strictObject({
  data: dataFile
    .extend({
      path: z
        .string()
        .min(1)
        .describe(
          "A file of evalite (.ts, .mts, .js, .mjs), a configuration of promptfoo (.yaml, .yml, .json), or JSONL with `input` and `expected`; relative to the configuration, on a server that the run did not start to its --data-root. The code of the first two runs in the process",
        ),
    })
    .describe("Cases; those with one input are on one side"),
  scorer: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Scorer of JSONL rows, such as math@2; default: the answer is `expected`, white space at its ends left out. The other files have scorers of their own",
    ),
  schema: answerPlace.default("text").describe("Place of the answer for that scorer; text is the whole answer"),
  task_seed: z.int().default(0).describe("Another seed divides the cases in another way"),
});

/** Parsed options of `cases@1`. */
export type CasesOptions = z.output<typeof casesOptions>;
