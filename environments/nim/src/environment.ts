import {
  type Action,
  anyTask,
  type EnvironmentContext,
  type JsonValue,
  messageText,
  type Observation,
  type ResetOptions,
  type Reward,
  score,
  type SimulatedEnvironment,
  type StepResult,
  taskById,
  textMessage,
} from "@mrlm/kit";
import type { NimOptions } from "./options.ts";
import { isWon, LARGEST_TAKE, moveOf } from "./rules.ts";
import type { NimTask } from "./tasks.ts";

/** Roles in the order of their turns. */
const ROLES = ["first", "second"] as const;
type Role = (typeof ROLES)[number];

/** Game of two agents that take objects from one pile. The agent that takes the last one wins. */
export class NimEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<NimTask>;
  readonly #options: NimOptions;
  #pile = 0;
  #isPuzzle = false;

  constructor(context: EnvironmentContext<NimTask>, options: NimOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    const { pile, ends } = (await taskById(this.#context.tasks, task)).public;
    this.#pile = pile;
    this.#isPuzzle = ends === "after one move";
    return this.#observe("first");
  }

  async step({ agent, message, finishReason }: Action): Promise<StepResult> {
    const mover = agent as Role;
    const other = mover === "first" ? "second" : "first";
    const take = finishReason === "exhausted" ? undefined : moveOf(messageText(message), this.#pile);
    if (take === undefined) return ended(other, mover, { valid: 0 });
    this.#pile -= take;
    if (this.#isPuzzle) {
      const isSolved = !isWon(this.#pile);
      return ended(isSolved ? mover : other, mover, { valid: 1, correct: isSolved ? 1 : 0 });
    }
    if (this.#pile === 0) return ended(mover, mover, { valid: 1 });
    return {
      observation: this.#observe(other),
      rewards: { [mover]: score(0, { valid: 1 }) },
      terminated: {},
      truncated: {},
    };
  }

  async snapshot(): Promise<number> {
    return this.#pile;
  }

  async restore(pile: JsonValue): Promise<void> {
    this.#pile = pile as number;
  }

  /** The pile is the whole state of the game, so every turn is a conversation of its own. */
  #observe(agent: Role): Observation {
    const pile = this.#pile;
    const text =
      this.#options.style === "terse"
        ? String(pile)
        : `${pile} ${pile === 1 ? "object is" : "objects are"} left. Take 1 to ${LARGEST_TAKE} of them; the agent that takes the last one wins. Answer with the number that you take.`;
    return { agent, messages: [textMessage("user", text)], isFresh: true };
  }
}

/** Ends the game. The winner earns 1, the other agent -1; the components are those of the agent that moved last. */
function ended(winner: Role, mover: Role, components: Readonly<Record<string, number>>): StepResult {
  const rewards = ROLES.map((role): [Role, Reward] => [
    role,
    score(role === winner ? 1 : -1, role === mover ? components : {}),
  ]);
  return {
    observation: { agent: "", messages: [] },
    rewards: Object.fromEntries(rewards),
    terminated: { first: true, second: true },
    truncated: {},
  };
}
