import type { TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Task } from "./task.ts";

/** What a scripted policy says, given the conversation so far and, in tests only, the task's private side. */
export type FixturePolicy<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> = (
  request: FixtureRequest<Public, Private>,
) => string | Message;

/** Input of a scripted policy. */
export interface FixtureRequest<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly messages: readonly Message[];
  readonly turn: number;
  readonly task: Task<Public, Private>;
}

/**
 * An episode whose outcome is known.
 * - `gold` earns the full reward, `nop` and `cheat` none, `malformed` the documented penalty;
 * - `determinism` is played twice and compared byte for byte.
 */
export interface Fixture<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly name: string;
  readonly kind: "gold" | "nop" | "cheat" | "malformed" | "determinism";
  readonly options?: JsonObject;
  readonly task?: TaskId;
  readonly seed?: number;
  /** A {@link FixturePolicy}. */
  policy(request: FixtureRequest<Public, Private>): string | Message;
  /** Expected total reward of each acting agent, within 1e-9; `determinism` needs none. */
  readonly reward?: number;
}
