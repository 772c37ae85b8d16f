import { type JsonObject, MrlmError, type RandomStream, type Task, type TaskSource } from "@mrlm/spec";
import { hash128 } from "./hash.ts";
import { randomStream } from "./random.ts";

export interface GeneratedTask<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly public: Public;
  readonly private: Private;
  /** Identity of the task, usually its question. Tasks with equal keys are in the same split. */
  readonly key: string;
}

/** Maximal number of candidates for one index. Above it the generator has too few different tasks. */
const MAX_DRAWS = 10_000;

/**
 * Returns a source of tasks from a seeded generator. A hash of the key assigns each task to a split, in proportion to `share`, so that splits cannot
 * overlap even if the generator returns equal tasks.
 */
export function generatedTasks<Public extends JsonObject, Private extends JsonObject>(options: {
  readonly seed: number;
  /** Size of each split, and its relative share of all keys. */
  readonly splits: Readonly<Record<string, { readonly size: number; readonly share: number }>>;
  /** Returns a candidate for one place of a split. A difficulty may depend on the index. */
  readonly generate: (
    random: RandomStream,
    at: { readonly split: string; readonly index: number },
  ) => GeneratedTask<Public, Private>;
}): TaskSource<Public, Private> {
  const { seed, splits, generate } = options;
  const total = Object.values(splits).reduce((sum, split) => sum + split.share, 0);
  const ownerOf = (key: string): string | undefined => {
    let point = (hash128(key, seed)[0] / 2 ** 32) * total;
    return Object.keys(splits).find((name) => (point -= splits[name]?.share ?? 0) < 0);
  };
  return {
    splits: Object.fromEntries(Object.entries(splits).map(([name, split]) => [name, split.size])),
    async get(split, index): Promise<Task<Public, Private>> {
      assertTaskIndex(split, index, splits[split]?.size);
      const random = randomStream(`tasks/${split}/${index}`, seed);
      for (let draw = 0; draw < MAX_DRAWS; draw++) {
        const task = generate(random, { split, index });
        if (ownerOf(task.key) === split) return { id: `${split}/${index}`, public: task.public, private: task.private };
      }
      throw new MrlmError(
        "OPTIONS_INVALID",
        `The generator made no task of split "${split}" in ${MAX_DRAWS} draws: these options allow too few different tasks.`,
        {
          hint: "Raise the difficulty or size so that there are more tasks than splits.",
        },
      );
    },
  };
}

/** Throws TASK_NOT_FOUND unless the split exists (`size` is defined) and has this index. */
export function assertTaskIndex(split: string, index: number, size: number | undefined): void {
  if (size === undefined) throw new MrlmError("TASK_NOT_FOUND", `There is no split "${split}".`);
  if (!Number.isInteger(index) || index < 0 || index >= size) {
    throw new MrlmError("TASK_NOT_FOUND", `Split "${split}" has tasks 0 to ${size - 1}, not ${index}.`);
  }
}
