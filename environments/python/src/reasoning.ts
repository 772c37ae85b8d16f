import {
  type Action,
  anyTask,
  type Demonstration,
  type EnvironmentContext,
  messageText,
  MrlmError,
  observe,
  type Observation,
  placeAnswer,
  requestAnswer,
  type ResetOptions,
  type Reward,
  score,
  type SimulatedEnvironment,
  SINGLE_AGENT,
  singleStep,
  type StepResult,
  type Task,
  taskById,
  type TaskId,
  textMessage,
  unscored,
} from "@mrlm/kit";
import type { PythonOptions } from "./options.ts";
import type { PythonPool } from "./python-pool.ts";
import type { PrivateTask, PublicTask } from "./tasks.ts";
import { untilAborted } from "./until-aborted.ts";

type Context = EnvironmentContext<PublicTask, PrivateTask>;

/** Score above which an answer counts as right: checkers add and divide. */
const FULL = 1 - 1e-9;
/** Reward of an answer that cannot be read. */
const WRONG = score(0, { score: 0, unreadable: 1 });

/** One question of reasoning-gym, one answer, which its own checker scores. */
export class ReasoningEnvironment implements SimulatedEnvironment {
  readonly #context: Context;
  readonly #options: PythonOptions;
  readonly #pool: PythonPool;
  #task!: Task<PublicTask, PrivateTask>;

  constructor(context: Context, options: PythonOptions, pool: PythonPool) {
    this.#context = context;
    this.#options = options;
    this.#pool = pool;
  }

  async reset({ task, seed = 0, signal }: ResetOptions): Promise<Observation> {
    const id = task ?? anyTask(this.#context, seed);
    this.#task = await untilAborted(taskById(this.#context.tasks, id), signal);
    return observe([textMessage("user", questionOf(this.#task, this.#options))]);
  }

  async step({ message }: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    const answer = answerIn(messageText(message), this.#options.answer_tag);
    return ended(answer === undefined ? WRONG : await this.#reward(answer, signal));
  }

  /**
   * Scores an answer. Where its checker fails and can score the reference answer, or an empty one without it, the answer is what it cannot read, and wrong: it
   * raises, returns no finite number, ends its process or takes too long. Else the reward is unscored.
   */
  async #reward(answer: string, signal: AbortSignal): Promise<Reward> {
    const { public: place, private: hidden } = this.#task;
    const { name, partial_credit: isPartial } = this.#options;
    const scoreOf = async (text: string): Promise<number> => {
      const value = await this.#pool.ask("score", [place.seed, place.index ?? 0, text], signal);
      if (typeof value !== "string") return Number(value);
      throw new MrlmError(
        "BRIDGE_REWARD_INVALID",
        `The checker of \`${name}\` returned ${value}, which is no finite number.`,
      );
    };
    try {
      const value = await scoreOf(answer);
      return score(isPartial ? value : Number(value >= FULL), { score: value });
    } catch (error) {
      if (signal.aborted || !MrlmError.isInstance(error)) throw error;
      const isWrong = await scoreOf(hidden.answer ?? "").then(
        () => true,
        () => false,
      );
      signal.throwIfAborted();
      return isWrong ? WRONG : unscored(error.code, error.message);
    }
  }
}

function ended(reward: Reward): StepResult {
  return singleStep({ reward, terminated: true });
}

function questionOf(
  { public: { question = "" } }: Task<PublicTask, PrivateTask>,
  { answer_tag: tag, prompt }: PythonOptions,
): string {
  return [...(prompt === undefined ? [] : [prompt]), question, requestAnswer(tag === "" ? "text" : tag)].join("\n\n");
}

/** Returns the answer between the last pair of tags, without white space around it; `undefined` where there is none. */
export function answerIn(text: string, tag: string): string | undefined {
  if (tag === "") return text.trim();
  const end = text.lastIndexOf(`</${tag}>`);
  const begin = end < 0 ? -1 : text.lastIndexOf(`<${tag}>`, end);
  return begin < 0 ? undefined : text.slice(begin + tag.length + 2, end).trim();
}

/** Returns the reference answer of a task. Rejects with DEMONSTRATION_REFUSED for a set without reference answers. */
export async function demonstrate({ tasks }: Context, options: PythonOptions, id: TaskId): Promise<Demonstration> {
  const task = options.kind === "reasoning_gym" ? await taskById(tasks, id) : undefined;
  const answer = task?.private.answer;
  if (task === undefined || answer === undefined)
    throw new MrlmError("DEMONSTRATION_REFUSED", `\`${options.name}\` states no answer of task ${id}.`);
  const { answer_tag: tag } = options;
  const messages = [
    textMessage("user", questionOf(task, options)),
    textMessage("assistant", placeAnswer(answer, tag === "" ? "text" : tag)),
  ];
  return { task: id, agent: SINGLE_AGENT, messages };
}
