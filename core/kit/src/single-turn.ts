import {
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  type Reward,
  SINGLE_AGENT,
  type Task,
} from "@mrlm/spec";
import { defineEnvironment } from "./define-plugin.ts";
import { messageText, questionMessages, textMessage } from "./messages.ts";
import { observe, scoredEnd } from "./single-agent.ts";
import { anyTask, taskById } from "./task-ids.ts";

/** Definition of an environment with one question and one response in an episode. The other fields are those of `EnvironmentDefinition`. */
export interface SingleTurnDefinition<Options, Public extends JsonObject, Private extends JsonObject>
  extends
    Omit<
      EnvironmentDefinition<Options, Public, Private>,
      "create" | "demonstrate" | "determinism" | "maxTurns" | "roles" | "tasks"
    >,
    Required<Pick<EnvironmentDefinition<Options, Public, Private>, "tasks">> {
  /** Default `full`. Set it if equal responses can have different scores, for example from a model that is used as a judge. */
  readonly determinism?: EnvironmentDefinition<Options>["determinism"];
  /** Returns the question: the text of a user message, or messages. It receives only the public fields, so that private ones cannot reach a model. */
  prompt(shown: Public, options: Options): string | readonly Message[];
  /** Returns the reward of the text of a response. A number is a reward without components; 1 counts as solved. */
  score(
    response: string,
    task: Task<Public, Private>,
    more: ScoreContext<Options, Public, Private>,
  ): number | Reward | Promise<number | Reward>;
  /** Returns the response to learn from; required for SFT. */
  answer?(task: Task<Public, Private>, options: Options): string;
}

/** Further input of `score`. */
export interface ScoreContext<Options, Public extends JsonObject, Private extends JsonObject> {
  readonly context: EnvironmentContext<Public, Private>;
  readonly options: Options;
  /** The whole response, with tool calls and reasoning. */
  readonly message: Message;
  /** Aborted when the deadline of the step passes. */
  readonly signal: AbortSignal;
}

/** Returns an environment whose episodes have one question and one response. Write `tasks` before the functions with a task as input: their types follow from it. */
export function singleTurn<Options, Public extends JsonObject = JsonObject, Private extends JsonObject = JsonObject>(
  definition: SingleTurnDefinition<Options, Public, Private>,
): EnvironmentDefinition<Options, Public, Private> {
  const { prompt, score, answer, ...rest } = definition;
  const messagesOf = (shown: Public, options: Options): readonly Message[] => questionMessages(prompt(shown, options));
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
          return scoredEnd(reward);
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
