import {
  type Action,
  anyTask,
  type Demonstration,
  type EnvironmentContext,
  messageText,
  type Observation,
  observe,
  type ResetOptions,
  score,
  type SimulatedEnvironment,
  SINGLE_AGENT,
  singleStep,
  type StepResult,
  type Task,
  taskById,
  type TaskId,
  textMessage,
} from "@mrlm/kit";
import type { WordsOptions } from "./options.ts";
import { Play, type PrivateGame, type PublicGame, solve } from "./play.ts";
import { moveOf, questionOf, replyOf, writeMove } from "./prompt.ts";

type Context = EnvironmentContext<PublicGame, PrivateGame>;

/** Environment with one game in an episode. */
export class WordsEnvironment implements SimulatedEnvironment {
  readonly #context: Context;
  readonly #style: WordsOptions["style"];
  #task!: Task<PublicGame, PrivateGame>;
  #play!: Play;

  constructor(context: Context, { style }: WordsOptions) {
    this.#context = context;
    this.#style = style;
  }

  async reset({ seed = 0, task = anyTask(this.#context, seed) }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task);
    this.#play = new Play(this.#task.public, this.#task.private);
    return observe([textMessage("user", questionOf(this.#task.public, this.#style))]);
  }

  async step({ message }: Action): Promise<StepResult> {
    const play = this.#play;
    const move = play.move(moveOf(messageText(message), this.#style));
    const solved = Number(play.isSolved);
    const reward = score(move.reward, { solved, progress: move.progress });
    if (play.isOver) return singleStep({ reward, terminated: true });
    return singleStep({
      reward,
      messages: [textMessage("user", replyOf(move, play.tries, this.#task.public, this.#style))],
    });
  }
}

/** Returns the conversation of a solution. */
export async function demonstrate({ tasks }: Context, { style }: WordsOptions, id: TaskId): Promise<Demonstration> {
  const { public: shown, private: hidden } = await taskById(tasks, id);
  const play = new Play(shown, hidden);
  const messages = [textMessage("user", questionOf(shown, style))];
  for (const move of solve(shown, hidden) as readonly string[]) {
    messages.push(textMessage("assistant", writeMove(move, style)));
    const result = play.move(move);
    if (!play.isOver) messages.push(textMessage("user", replyOf(result, play.tries, shown, style)));
  }
  return { task: id, agent: SINGLE_AGENT, messages };
}
