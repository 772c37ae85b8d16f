import {
  type Action,
  anyTask,
  defined,
  type EnvironmentContext,
  type JudgedTurn,
  messageText,
  type Observation,
  type ResetOptions,
  type SimulatedEnvironment,
  type StepResult,
  type Task,
  taskById,
  textMessage,
} from "@mrlm/kit";
import type { DebateOptions } from "./options.ts";
import { promptOf } from "./prompt.ts";
import { bySide, changeOf, rewardsOf, type SideRewards, withComponents } from "./rewards.ts";
import { otherSide, type Side, SIDES } from "./sides.ts";
import type { PrivateTask, PublicTask } from "./tasks.ts";

/** Debate of two sides. They take turns, `pro` first, until both have had all of theirs or the context of one is full. */
export class DebateEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext<PublicTask, PrivateTask>;
  readonly #options: DebateOptions;
  #task!: Task<PublicTask, PrivateTask>;
  /** Arguments so far; an empty text is an argument too. */
  #turns: { readonly side: Side; readonly text: string }[] = [];
  #cut = bySide(() => 0);
  /** Rewards of the last judgement. */
  #judged: SideRewards | undefined;

  constructor(context: EnvironmentContext<PublicTask, PrivateTask>, options: DebateOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task);
    this.#turns = [];
    this.#cut = bySide(() => 0);
    this.#judged = undefined;
    return this.#observe("pro");
  }

  async step(
    { agent, message, finishReason }: Action,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<StepResult> {
    const side = agent as Side;
    const isExhausted = finishReason === "exhausted";
    if (isExhausted) this.#forfeit(side);
    else this.#add(side, messageText(message));
    const isOver = isExhausted || this.#turns.length === SIDES.length * this.#options.turns;
    const rewards = await this.#rewards(isOver, signal);
    return {
      observation: isOver ? { agent: "", messages: [] } : this.#observe(otherSide(side)),
      rewards,
      terminated: bySide((each) => isOver && !(isExhausted && each === side)),
      truncated: bySide((each) => isExhausted && each === side),
    };
  }

  /** Adds an argument, cut to the limit, but not within a character. */
  #add(side: Side, given: string): void {
    const limit = this.#options.max_characters;
    const text = given.trim();
    if (text.length > limit) this.#cut[side]++;
    this.#turns.push({
      side,
      text: text
        .slice(0, limit)
        .replace(/[\ud800-\udbff]$/, "")
        .trimEnd(),
    });
  }

  /** Adds an empty argument for each turn that a side does not take. */
  #forfeit(side: Side): void {
    for (let round = this.#roundOf(side); round < this.#options.turns; round++) this.#turns.push({ side, text: "" });
  }

  /** Number of turns that a side has had. */
  #roundOf(side: Side): number {
    return this.#turns.filter((turn) => turn.side === side).length;
  }

  #observe(side: Side): Observation {
    const round = this.#roundOf(side);
    // In a simultaneous debate `con` writes before it receives the argument of `pro` of the same round.
    const last = side === "con" && this.#options.order === "alternating" ? round : round - 1;
    const reply = this.#turns.filter((turn) => turn.side !== side)[last]?.text;
    return { agent: side, messages: promptOf(side, { round, reply }, this.#task.public, this.#options) };
  }

  /** Asks the judge at the end, and with rewards by step after each turn or simultaneous round. It is not asked again once both sides are unscored. */
  async #rewards(isOver: boolean, signal: AbortSignal): Promise<StepResult["rewards"]> {
    const { rewards, order } = this.#options;
    const isRound = order === "alternating" || this.#turns.length % SIDES.length === 0;
    if (!isOver && !(rewards.when === "step" && isRound)) return {};
    const before = this.#judged;
    const isLost = before !== undefined && SIDES.every((side) => !before[side].scored);
    const now = isLost ? before : await this.#judge(signal);
    // The total of a side that was unscored once remains unscored.
    this.#judged = bySide((side) => (before?.[side].scored === false ? before[side] : now[side]));
    const earned = changeOf(this.#judged, before);
    return isOver ? bySide((side) => withComponents(earned[side], this.#counts(side))) : earned;
  }

  async #judge(signal: AbortSignal): Promise<SideRewards> {
    const { judge, judge_options: options, rewards } = this.#options;
    const request = {
      question: this.#task.public.question,
      turns: this.#turns.map(({ side, text }): JudgedTurn => ({
        agent: side,
        message: textMessage("assistant", text),
      })),
      agents: SIDES,
      task: this.#task,
      ...defined({ options }),
    };
    return rewardsOf(await this.#context.judge(judge).judge(request, { signal }), rewards.kind);
  }

  #counts(side: Side): { readonly empty: number; readonly cut: number } {
    return { empty: this.#turns.filter((turn) => turn.side === side && turn.text === "").length, cut: this.#cut[side] };
  }
}
