import { type JsonObject, MrlmError, type TaskSource } from "@mrlm/kit";
import { hash128 } from "@mrlm/kit/service";
import type { PythonOptions } from "./options.ts";
import type { PythonPool } from "./python-pool.ts";

/** Share of all questions that belongs to the split `eval`. */
const EVAL_SHARE = 0.2;
/** Entries that are tried for one task, and those that may fail in turn. */
const MAX_DRAWS = 500;
const MAX_FAILURES = 8;
/** Entries by which the identity of the questions of a set is chosen. */
const COMPARED = 8;
/** Different collections of words among them that are few. */
const FEW_WORDS = 5;

type KeyOf = (question: string) => string;

/** Seed of an environment, or index of an entry in a set of reasoning-gym with a seed. */
export type PublicTask = { readonly seed: number; readonly index?: number; readonly question?: string };
/** Reference answer of an entry; absent where its set states none. */
export type PrivateTask = { readonly answer?: string };

/** Returns the tasks under these options: seeds, those of `eval` after those of `train`, or entries. */
export function pythonTasks(options: PythonOptions, pool: PythonPool): TaskSource<PublicTask, PrivateTask> {
  const { kind, seeds, task_seed: first } = options;
  let key: Promise<KeyOf> | undefined;
  return {
    splits: seeds,
    async get(split, index) {
      const size = split === "train" || split === "eval" ? seeds[split] : undefined;
      if (size === undefined) throw new MrlmError("TASK_NOT_FOUND", `There is no split "${split}".`);
      if (!Number.isInteger(index) || index < 0 || index >= size)
        throw new MrlmError("TASK_NOT_FOUND", `Split "${split}" has tasks 0 to ${size - 1}, not ${index}.`);
      const number = split === "train" ? index : seeds.train + index;
      const id = `${split}/${index}`;
      if (kind !== "reasoning_gym") return { id, public: { seed: first + number }, private: {} };
      key ??= keyOfSet(options, pool);
      return { id, ...(await entryTask(options, pool, { split, number, keyOf: await key })) };
    },
  };
}

/**
 * Returns the first entry of a sequence whose question belongs to the split: a hash of its words decides, so that splits cannot overlap where
 * entries of several seeds are equal, or list the same parts in another order. The sequences of two tasks have no entry in common.
 */
async function entryTask(
  { name, seeds, task_seed: first }: PythonOptions,
  pool: PythonPool,
  { split, number, keyOf }: { readonly split: string; readonly number: number; readonly keyOf: KeyOf },
): Promise<{ readonly public: PublicTask & JsonObject; readonly private: PrivateTask & JsonObject }> {
  const total = seeds.train + seeds.eval;
  let failures = 0;
  for (let draw = 0; draw < MAX_DRAWS; draw++) {
    const [seed, index] = [first, number + draw * total];
    try {
      const { question, answer } = await pool.ask("entry", [seed, index]);
      failures = 0;
      const isEval = (hash128(keyOf(question), 0)[0] >>> 0) / 2 ** 32 < EVAL_SHARE;
      if (isEval === (split === "eval"))
        return { public: { question, seed, index }, private: answer === null ? {} : { answer } };
    } catch (error) {
      // Some sets make fewer entries than they state.
      if (!MrlmError.hasCode(error, "BRIDGE_FAILED") || ++failures === MAX_FAILURES) throw error;
    }
  }
  throw new MrlmError(
    "OPTIONS_INVALID",
    `The set \`${name}\` made no task of split "${split}" in ${MAX_DRAWS} draws: these options allow too few different questions.`,
    { hint: "State `kwargs` with which the set makes more different questions." },
  );
}

/** Returns the identity of a question: its words in any order, or its whole text in sets whose questions often have the same words, such as boards of signs. */
async function keyOfSet({ task_seed: seed }: PythonOptions, pool: PythonPool): Promise<KeyOf> {
  const asked = Array.from({ length: COMPARED }, (_, index) => pool.ask("entry", [seed, index]).catch(() => undefined));
  const words = (await Promise.all(asked)).map((entry) => entry && wordsOf(entry.question));
  return new Set(words).size <= FEW_WORDS ? (question) => question : wordsOf;
}

function wordsOf(question: string): string {
  return (question.toLowerCase().match(/[\p{L}\p{N}]+|[\p{S}*/%-]/gu) ?? []).toSorted().join(" ");
}
