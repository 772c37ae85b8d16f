import {
  defined,
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  MrlmError,
  type RandomStream,
  type Reward,
  type ServiceId,
  SINGLE_AGENT,
  type Task,
  type Tool,
  type ToolDefinition,
  type ToolEpisode,
} from "@mrlm/spec";
import { callTools } from "./call-tools.ts";
import { defineEnvironment } from "./define-plugin.ts";
import { messageText, questionMessages, textMessage } from "./messages.ts";
import { observe, scoredEnd, singleStep } from "./single-agent.ts";
import { anyTask, taskById } from "./task-ids.ts";
import { type Tools, toolset } from "./tool.ts";

/** Number of turns of an episode if the definition states none. */
const DEFAULT_TURNS = 10;

interface OpeningEpisode<Options, Public extends JsonObject, Private extends JsonObject> {
  readonly context: EnvironmentContext<Public, Private>;
  readonly options: Options;
  readonly task: Task<Public, Private>;
  /** Seed of the episode; `null` in an environment whose determinism is `none`. */
  readonly seed: number | null;
  /** Aborted when opening must stop. */
  readonly signal: AbortSignal;
}

/** Further input of `score`. */
interface AnswerContext<Options, Public extends JsonObject, Private extends JsonObject, State> {
  /** State of this episode, as the tools have left it. */
  readonly state: State;
  readonly context: EnvironmentContext<Public, Private>;
  readonly options: Options;
  /** The whole conversation: question, calls, results and the message with the answer. */
  readonly messages: readonly Message[];
  /** Aborted when the deadline of the step passes. */
  readonly signal: AbortSignal;
}

/** Definition of an environment with one question in an episode, which a policy answers with the help of tools. The other fields are those of `EnvironmentDefinition`. */
export interface ToolEnvironmentDefinition<Options, Public extends JsonObject, Private extends JsonObject, State>
  extends
    Omit<
      EnvironmentDefinition<Options, Public, Private>,
      "create" | "demonstrate" | "determinism" | "requires" | "roles" | "tasks"
    >,
    Required<Pick<EnvironmentDefinition<Options, Public, Private>, "tasks">> {
  /** Default `full`. Set it if equal calls can have different results. */
  readonly determinism?: EnvironmentDefinition["determinism"];
  /** Services beside the toolsets that `tools` names. */
  readonly requires?: readonly ServiceId[];
  /** Returns the question: the text of a user message, or messages. It receives only the public fields, so that private ones cannot reach a model. */
  prompt(shown: Public, options: Options): string | readonly Message[];
  /** Returns the state of an episode, which its tools change and `score` reads: a basket, a file tree. */
  state?(episode: OpeningEpisode<Options, Public, Private>): State | Promise<State>;
  /** Tools by name, a function that creates those of one episode with their state, or ids of toolsets of plugins. */
  readonly tools:
    | Exclude<Tools, readonly Tool[]>
    | readonly string[]
    | ((
        episode: OpeningEpisode<Options, Public, Private> & {
          readonly state: State;
          random(name: string): RandomStream;
        },
      ) => Tools | Promise<Tools>);
  /** Files of a task, which toolsets of plugins receive. */
  files?(task: Task<Public, Private>, options: Options): NonNullable<ToolEpisode["files"]>;
  /**
   * Returns the reward of the answer: the text of the first message without a call. A number is a reward without components; 1 counts as solved. An episode
   * without an answer earns 0.
   */
  score(
    answer: string,
    task: Task<Public, Private>,
    more: AnswerContext<Options, Public, Private, State>,
  ): number | Reward | Promise<number | Reward>;
  /** Returns the messages of a worked solution: calls, and at last the answer. Their results come from the tools. Required for SFT. */
  solve?(task: Task<Public, Private>, options: Options): readonly (string | Message)[];
}

/** Returns an environment with tools. Write `tasks` before the functions with a task as input, and `state` before `tools` and `score`: their types follow from it. */
export function toolEnvironment<
  Options,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
  State = undefined,
>(
  definition: ToolEnvironmentDefinition<Options, Public, Private, State>,
): EnvironmentDefinition<Options, Public, Private> {
  const {
    prompt,
    state: createState,
    tools,
    files,
    score,
    solve,
    requires = [],
    maxTurns = DEFAULT_TURNS,
    ...rest
  } = definition;
  const ids = isIds(tools) ? tools : [];
  const messagesOf = (shown: Public, options: Options): readonly Message[] => questionMessages(prompt(shown, options));
  const openTools = async (
    episode: OpeningEpisode<Options, Public, Private>,
  ): Promise<{ readonly opened: readonly Tool[]; readonly state: State }> => {
    const { context, options, task, seed, signal } = episode;
    const state = (await createState?.(episode)) as State;
    const given = files?.(task, options);
    const sources = isIds(tools)
      ? tools
      : [toolset(typeof tools === "function" ? ({ random }) => tools({ ...episode, state, random }) : tools)];
    const opened = await Promise.all(
      sources.map((source) => context.tools(source).open({ task, seed, signal, ...defined({ files: given }) })),
    );
    return { opened: opened.flatMap((each) => each.tools), state };
  };
  return defineEnvironment<Options, Public, Private>({
    determinism: "full",
    ...rest,
    maxTurns,
    requires: [...ids.map((id): ServiceId => `tool:${id}`), ...requires],
    create(context, options) {
      let task: Task<Public, Private>;
      let opened: readonly Tool[] = [];
      let state: State;
      let messages: readonly Message[] = [];
      let turn = 0;
      return {
        async reset({ task: id, seed, signal }) {
          task = await taskById(context.tasks, id ?? anyTask(context, seed ?? 0));
          ({ opened, state } = await openTools({ context, options, task, seed: seed ?? null, signal }));
          messages = messagesOf(task.public, options);
          turn = 0;
          return observe(messages, { tools: opened.map(definitionOf) });
        },
        async step({ message, finishReason }, { signal }) {
          turn++;
          messages = [...messages, message];
          if (finishReason === "exhausted") return singleStep({ truncated: true });
          if (!hasCalls(message)) {
            const reward = await score(messageText(message), task, { context, options, messages, signal, state });
            return scoredEnd(reward);
          }
          // No turn is left that could use a result.
          if (turn >= maxTurns) return singleStep({ truncated: true });
          const results = await callTools(opened, message, { signal });
          messages = [...messages, ...results];
          return singleStep({ messages: results });
        },
      };
    },
    ...(solve === undefined
      ? {}
      : {
          async demonstrate(context, options, id) {
            const task = await taskById(context.tasks, id);
            const { signal } = new AbortController();
            const { opened } = await openTools({ context, options, task, seed: 0, signal });
            const messages = [...messagesOf(task.public, options)];
            for (const each of solve(task, options)) {
              const message = typeof each === "string" ? textMessage("assistant", each) : each;
              const results = await callTools(opened, message, { signal });
              assertUsable(results, id);
              messages.push(message, ...results);
            }
            return { task: id, agent: SINGLE_AGENT, messages, tools: opened.map(definitionOf) };
          },
        }),
  });
}

/** Returns a message of a policy that calls one tool, for fixtures and worked solutions. */
export function callMessage(name: string, args: JsonObject = {}, id = "1"): Message {
  return { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: args }] };
}

/** Throws for a worked solution with a call that failed: its result is nothing to learn from. */
function assertUsable(results: readonly Message[], task: string): void {
  const parts = results.flatMap((result) => result.parts);
  const failed = parts.find((part) => part.type === "tool-result" && part.isError);
  if (failed?.type !== "tool-result") return;
  throw new MrlmError(
    "TOOL_FAILED",
    `The worked solution of task ${task} calls ${failed.name}, which returned an error: ${messageText({ role: "tool", parts: failed.content })}`,
    { hint: "Correct the calls that `solve` returns, or the tool." },
  );
}

function hasCalls({ parts }: Message): boolean {
  return parts.some(({ type }) => type === "tool-call" || type === "malformed-call");
}

function isIds(tools: unknown): tools is readonly string[] {
  return Array.isArray(tools);
}

function definitionOf({ name, description, parameters }: ToolDefinition): ToolDefinition {
  return { name, description, parameters };
}
