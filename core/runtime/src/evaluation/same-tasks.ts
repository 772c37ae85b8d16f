import { hash } from "node:crypto";
import type { TurnRecord } from "@mrlm/spec";

/**
 * Finds the tasks in which a policy read the same from the beginning to the end: a generator may draw one question twice, and both are then one observation of the
 * policy, not two.
 */
export class SameTasks {
  /** First task with each text that was read. */
  readonly #readers = new Map<string, string>();
  /** Another task that is the same one. */
  readonly #links = new Map<string, string>();

  /** Adds an episode. @param task key of the task and the agent. @param kind what must be equal in addition to the text: environment and agent */
  add(task: string, kind: string, turns: readonly TurnRecord[]): void {
    if (turns.length === 0) return;
    const read = `${kind} ${hash("sha256", textOf(turns), "base64")}`;
    const [first, own] = [this.find(this.#readers.get(read) ?? task), this.find(task)];
    this.#readers.set(read, first);
    if (first !== own) this.#links.set(own, first);
  }

  /** Returns the task that represents all that are the same as this one. */
  find(task: string): string {
    let found = task;
    for (let next = this.#links.get(found); next !== undefined; next = this.#links.get(found)) found = next;
    return found;
  }
}

function textOf(turns: readonly TurnRecord[]): string {
  return JSON.stringify(
    turns.map(({ messages, tools, isFresh }) => [messages, tools, isFresh]),
    (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value),
  );
}
