import { hash } from "node:crypto";
import type { TurnRecord } from "@mrlm/spec";

/** Episodes in which the policy read the same. */
interface Readers {
  readonly tasks: Set<string>;
  /** Score of each answer. */
  readonly scores: Map<string, number>;
  /** Whether one answer had two scores: the tasks differ in what the policy does not see. */
  areHidden: boolean;
}

/**
 * Finds the tasks that are one: in which a policy read the same from the beginning to the end, and the same answers earned the same. A generator may draw one
 * question twice, and both are then one observation of the policy, not two.
 */
export class SameTasks {
  readonly #readers = new Map<string, Readers>();

  /** Adds an episode. @param task key of the task and the agent. @param kind what must be equal in addition to the text: environment and agent */
  add(task: string, kind: string, turns: readonly TurnRecord[], score: number): void {
    if (turns.length === 0) return;
    const read = `${kind} ${hashOf(turns.map(({ messages, tools, isFresh }) => [messages, tools, isFresh]))}`;
    const readers = this.#readers.get(read) ?? { tasks: new Set(), scores: new Map(), areHidden: false };
    this.#readers.set(read, readers);
    readers.tasks.add(task);
    const answer = hashOf(turns.map(({ response }) => response));
    readers.areHidden ||= (readers.scores.get(answer) ?? score) !== score;
    readers.scores.set(answer, score);
  }

  /** Returns a function that maps a task to the one that represents all that are the same. */
  representative(): (task: string) => string {
    const links = new Map<string, string>();
    const find = (task: string): string => {
      let found = task;
      for (let next = links.get(found); next !== undefined; next = links.get(found)) found = next;
      return found;
    };
    for (const { tasks, areHidden } of this.#readers.values()) {
      const [first = "", ...others] = areHidden ? [] : tasks;
      for (const other of others) if (find(other) !== find(first)) links.set(find(other), find(first));
    }
    return find;
  }
}

function hashOf(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    part instanceof Uint8Array ? Buffer.from(part).toString("base64") : part,
  );
  return hash("sha256", text, "base64");
}
