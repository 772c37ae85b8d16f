import {
  type Action,
  anyTask,
  type EnvironmentContext,
  messageText,
  type Observation,
  type ResetOptions,
  score,
  type SimulatedEnvironment,
  type StepResult,
  taskById,
  textMessage,
} from "@mrlm/kit";
import { meaningOf, symbolAt, symbolOf } from "./code.ts";
import type { SignalsOptions } from "./options.ts";
import type { SignalsTask } from "./tasks.ts";

/** Shown to the receiver if the sender's message has no symbol. */
const NO_SYMBOL = "-";

/** Game of a sender, which is shown a meaning and sends a symbol, and a receiver, which is shown the symbol alone and names a meaning. */
export class SignalsEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<SignalsTask>;
  readonly #options: SignalsOptions;
  #meaning = 0;
  #hasSymbol = false;

  constructor(context: EnvironmentContext<SignalsTask>, options: SignalsOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#meaning = (await taskById(this.#context.tasks, task)).public.meaning;
    const { meanings, symbols, style } = this.#options;
    const text = `The meaning is ${this.#meaning}, one of 1 to ${meanings}. Send it to the receiver, which is shown your symbol alone. Answer with one symbol from ${symbolAt(0)} to ${symbolAt(symbols - 1)}.`;
    return { agent: "sender", messages: [textMessage("user", style === "terse" ? String(this.#meaning) : text)] };
  }

  async step({ agent, message, finishReason }: Action): Promise<StepResult> {
    if (finishReason === "exhausted") return this.#end(0, agent === "receiver" ? 0 : undefined);
    if (agent === "sender") return this.#send(messageText(message));
    const meaning = meaningOf(messageText(message), this.#options.meanings);
    return this.#end(meaning === this.#meaning ? 1 : 0, meaning === undefined ? 0 : 1);
  }

  /** Shows the receiver the symbol, never the sender's text. */
  #send(sent: string): StepResult {
    const { meanings, symbols, style } = this.#options;
    const index = symbolOf(sent, symbols);
    this.#hasSymbol = index !== undefined;
    const symbol = index === undefined ? NO_SYMBOL : symbolAt(index);
    const text = `The sender has sent ${index === undefined ? "no symbol" : `the symbol ${symbol}`}. Which of the meanings 1 to ${meanings} does it stand for? Answer with the number.`;
    return {
      observation: { agent: "receiver", messages: [textMessage("user", style === "terse" ? symbol : text)] },
      rewards: {},
      terminated: {},
      truncated: {},
    };
  }

  /** @param answered whether the receiver named a meaning; `undefined` if it had no turn */
  #end(reward: number, answered: number | undefined): StepResult {
    const sender = this.#options.sender_reward === "shared" ? reward : 0;
    return {
      observation: { agent: "", messages: [] },
      rewards: {
        sender: score(sender, { valid: this.#hasSymbol ? 1 : 0 }),
        receiver: score(reward, answered === undefined ? {} : { valid: answered }),
      },
      terminated: { sender: true, receiver: true },
      truncated: {},
    };
  }
}
