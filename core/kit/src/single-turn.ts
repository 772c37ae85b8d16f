import {
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  type Reward,
  score as scored,
  SINGLE_AGENT,
  type Task,
} from "@mrlm/spec";
import { defineEnvironment } from "./define-plugin.ts";
import { messageText, textMessage } from "./messages.ts";
import { observe, singleStep } from "./single-agent.ts";
import { anyTask, taskById } from "./task-ids.ts";

/** A task that is one question and one response. The other fields are those of an environment definition. */
export interface SingleTurnDefinition<Options, Public extends JsonObject, Private extends JsonObject>
  extends
    Omit<
      EnvironmentDefinition<Options, Public, Private>,
      "agents" | "create" | "demonstrate" | "determinism" | "maxTurns" | "tasks"
    >,
    Required<Pick<EnvironmentDefinition<Options, Public, Private>, "tasks">> {
  /** `full` by default. Set it where the score is not the same for the same response, such as that of a model used as a judge. */
  readonly determinism?: EnvironmentDefinition["determinism"];
  /** The question: a user message, or several messages. It receives the public fields only, so private ones cannot reach a model. */
  prompt(shown: Public, options: Options): string | readonly Message[];
  /** The reward of a response's text. A number is a reward without components, of which 1 counts as solved. */
  score(
    response: string,
    task: Task<Public, Private>,
    more: ScoreContext<Options, Public, Private>,
  ): number | Reward | Promise<number | Reward>;
  /** The response to learn from. SFT needs it. */
  answer?(task: Task<Public, Private>, options: Options): string;
}

/** The rest of what a score may depend on. */
export interface ScoreContext<Options, Public extends JsonObject, Private extends JsonObject> {
  readonly context: EnvironmentContext<Public, Private>;
  readonly options: Options;
  /** The whole response, with tool calls and reasoning. */
  readonly message: Message;
  /** Aborted when the step's deadline passes. */
  readonly signal: AbortSignal;
}

/** An environment whose episodes have one question and one response. Write `tasks` before the functions that take a task: their types follow from it. */
export function singleTurn<Options, Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject>(
  definition: SingleTurnDefinition<Options, Public, Private>,
): EnvironmentDefinition<Options, Public, Private> {
  const { prompt, score, answer, ...rest } = definition;
  const messagesOf = (shown: Public, options: Options): readonly Message[] => {
    const messages = prompt(shown, options);
    return typeof messages === "string" ? [textMessage("user", messages)] : messages;
  };
  return defineEnvironment<Options, Public, Private>({
    determinism: "full",
    ...rest,
    create(context, options) {
      let task: Task<Public, Private>;
      return {
        async reset({ task: id, seed = 0 }) {
          task = await taskById(context.tasks, id ?? anyTask(context, seed));
          return observe(messagesOf(task.public, options));
        },
        async step({ message }, { signal }) {
          const reward = await score(messageText(message), task, { context, options, message, signal });
          return singleStep({ reward: typeof reward === "number" ? scored(reward) : reward, terminated: true });
        },
      };
    },
    ...(answer === undefined
      ? {}
      : {
          async demonstrate({ tasks }, options, id) {
            const task = await taskById(tasks, id);
            return {
              task: id,
              agent: SINGLE_AGENT,
              messages: [...messagesOf(task.public, options), textMessage("assistant", answer(task, options))],
            };
          },
        }),
  });
}
