import type { AgentId, RoleId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Task } from "./task.ts";

/** Scripted policy of a test: returns the next message. Unlike a trained policy it reads the private part of the task. */
export type FixturePolicy<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> = (
  request: FixtureRequest<Public, Private>,
) => string | Message;

/** Input of a {@link FixturePolicy}. */
export interface FixtureRequest<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  /** Agent on turn, and its role. */
  readonly agent: AgentId;
  readonly role: RoleId;
  /** The agent's conversation so far. */
  readonly messages: readonly Message[];
  /** Index of the turn, from 0. */
  readonly turn: number;
  readonly task: Task<Public, Private>;
}

/**
 * Episode with a known outcome.
 * - `gold` earns the full reward, `nop` and `cheat` none, `malformed` the documented penalty;
 * - `determinism` is played twice, and both episodes must be equal byte for byte.
 */
export interface Fixture<Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject> {
  readonly name: string;
  readonly kind: "gold" | "nop" | "cheat" | "malformed" | "determinism";
  readonly options?: JsonObject;
  readonly task?: TaskId;
  readonly seed?: number;
  /** Scripted policies of the environment by role, for example of an opponent. The other roles are played by `policy`. */
  readonly players?: Readonly<Record<RoleId, { readonly scripted: string; readonly options?: JsonObject }>>;
  /** A {@link FixturePolicy}. */
  policy(request: FixtureRequest<Public, Private>): string | Message;
  /**
   * Expected total reward within 1e-9: of each agent by its name, or one number for every agent that `policy` plays. Optional for `determinism`.
   */
  readonly reward?: number | Readonly<Record<AgentId, number>>;
}
