import type { TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";

/** Task with a public and a private part. */
export interface Task<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly id: TaskId;
  /** Data that clients and policies may receive. */
  readonly public: Public;
  /** Answers and hidden tests. A host never sends them to a client. */
  readonly private: Private;
}

/** Tasks by split and index, from a generator or a file. Splits do not overlap. */
export interface TaskSource<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  /** Number of tasks by split. `train` and `eval` are required. */
  readonly splits: Readonly<Record<string, number>>;
  /** Splits whose tasks are to be taken in ascending order of their index, for example in a curriculum. */
  readonly orderedSplits?: readonly string[];
  /** Returns the same task for the same index, always. Rejects with TASK_NOT_FOUND for an index outside the split. */
  get(split: string, index: number): Promise<Task<Public, Private>>;
}
