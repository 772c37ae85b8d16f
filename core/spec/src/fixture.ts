import type { TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";

/** What a scripted policy says, given the conversation so far and, in tests only, the task's private side. */
export type FixturePolicy = (request: {
  readonly messages: readonly Message[];
  readonly turn: number;
  readonly task: { readonly id: TaskId; readonly public: JsonObject; readonly private: JsonObject };
}) => string | Message;

/**
 * An episode whose outcome is known.
 * - `gold` earns the full reward, `nop` and `cheat` none, `malformed` the documented penalty;
 * - `determinism` is played twice and compared byte for byte.
 */
export interface Fixture {
  readonly name: string;
  readonly kind: "gold" | "nop" | "cheat" | "malformed" | "determinism";
  readonly options?: JsonObject;
  readonly task?: TaskId;
  readonly seed?: number;
  readonly policy: FixturePolicy;
  /** Expected total reward of each acting agent, within 1e-9; `determinism` needs none. */
  readonly reward?: number;
}
