import {
  defined,
  divide,
  type EnvironmentContext,
  generatedTasks,
  invalidRow,
  isObject,
  listedTasks,
  type RandomStream,
  readJsonl,
  type TaskSource,
} from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { ResearchOptions } from "./options.ts";
import { questionOf } from "./relations.ts";
import { jsonOf } from "./task.ts";
import { createWorld, type DrawnChain, type World } from "./world.ts";

/** Share of all generated tasks that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Returns generated questions, each with a corpus of its own, so that no fact can be memorised. */
export function generatedQuestions(options: ResearchOptions): TaskSource {
  const [least, most] = options.hops;
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random) {
      const hops = random.integer(least, most);
      const { site, chain, answer } = drawTask(random, options.pages, hops);
      const question = questionOf(chain);
      return {
        key: question,
        public: jsonOf({ question, hops }),
        private: jsonOf({ answer: String(answer), site }),
      };
    },
  });
}

/** Draws a corpus that has a chain of this length, with the chain. */
function drawTask(random: RandomStream, pages: number, hops: number): Pick<World, "site"> & DrawnChain {
  for (;;) {
    const { site, drawChain } = createWorld(random, pages);
    const drawn = drawChain(random, hops);
    if (drawn !== undefined) return { site, ...drawn };
  }
}

const rowSchema = z.object({
  id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  question: z.string().min(1),
  answer: z.union([z.string().min(1), z.number().transform(String)], "must be a text or a number"),
  site: z.record(z.string().min(1), z.string()).optional(),
});
type Row = z.output<typeof rowSchema>;

/**
 * Returns the tasks of a file. All rows are checked before the first task is used.
 * @throws DATA_INVALID, with file and line, for a row of another form
 */
export async function fileQuestions(
  context: EnvironmentContext,
  { path, eval_share }: NonNullable<ResearchOptions["data"]>,
  seed: number,
): Promise<TaskSource> {
  const rows = (await readJsonl(context.dataPath(path), "data.path")).map(({ value, place }) => readRow(value, place));
  const { train, eval: held } = divide(rows, eval_share, seed);
  return listedTasks({ train, eval: held }, ({ id, question, answer, site }) => ({
    public: jsonOf({ question, ...defined({ id }) }),
    private: jsonOf({ answer, ...defined({ site }) }),
  }));
}

function readRow(value: unknown, place: Place): Row {
  if (!isObject(value)) throw invalidRow(place, "the row is no object", "A row is { question, answer, site?, id? }.");
  return parseRow(rowSchema, value, place);
}
