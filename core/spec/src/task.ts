import type { TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";

/** One task, with the types of its two sides. */
export interface Task<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly id: TaskId;
  /** What may be shown to anybody. */
  readonly public: Public;
  /** Answers and hidden tests. Never serialised to a client. */
  readonly private: Private;
}

/** Seeded, indexable tasks in splits that do not overlap; from a generator or a file. */
export interface TaskSource<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  /** Number of tasks of each split; there is always a `train` and an `eval`. */
  readonly splits: Readonly<Record<string, number>>;
  /** Splits whose tasks are meant to be taken in the order of their index, as by a curriculum; the others in any. */
  readonly orderedSplits?: readonly string[];
  /** The same index is the same task, always. Rejects with TASK_NOT_FOUND outside the split. */
  get(split: string, index: number): Promise<Task<Public, Private>>;
}
