import {
  type Action,
  anyTask,
  callTools,
  type EnvironmentContext,
  type Message,
  messageText,
  type Observation,
  observe,
  type ResetOptions,
  type Reward,
  type SimulatedEnvironment,
  SINGLE_AGENT,
  singleStep,
  type StepResult,
  type Task,
  taskById,
  type Tool,
  toolCalls,
  type ToolDefinition,
} from "@mrlm/kit";
import { gradeOf } from "./grade.ts";
import { type OpenTools, openTools } from "./open-tools.ts";
import type { ToolsOptions } from "./options.ts";
import { promptOf } from "./prompt.ts";
import { RequiredTools } from "./required-tools.ts";
import { type EpisodeEnd, rewardOf, type TurnCalls } from "./rewards.ts";
import { shownOf } from "./task.ts";

/** Environment with one question in an episode, tools, and up to `turns` turns. The first message without a call is the answer. */
export class ToolsEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext;
  readonly #options: ToolsOptions;
  #task!: Task;
  #open!: OpenTools;
  #required!: RequiredTools;
  /** Tools of the last observation. */
  #shown: readonly Tool[] = [];
  #messages: readonly Message[] = [];
  #turn = 0;

  constructor(context: EnvironmentContext, options: ToolsOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed, task, signal }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task ?? anyTask(this.#context, seed ?? 0));
    this.#open = await openTools(this.#context, this.#options, this.#task, { seed: seed ?? null, signal });
    this.#required = new RequiredTools(shownOf(this.#task).required_tools);
    this.#shown = this.#open.tools;
    this.#turn = 0;
    const { question: _question, ...info } = this.#task.public;
    this.#messages = promptOf(this.#task, this.#options);
    return observe(this.#messages, { info, tools: this.#shown.map(definitionOf) });
  }

  async step({ message, finishReason }: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    this.#turn++;
    this.#messages = [...this.#messages, message];
    const calls = toolCalls(message).length;
    const malformed = message.parts.filter(({ type }) => type === "malformed-call").length;
    if (finishReason === "exhausted")
      return singleStep({ reward: this.#rewardOf(this.#count(message, []), 0), truncated: true });
    if (calls + malformed === 0) return this.#finish(messageText(message), signal);
    // No turn is left that could use a result.
    if (this.#turn >= this.#options.turns)
      return singleStep({ reward: this.#rewardOf(this.#count(message, []), 0), truncated: true });
    const results = await callTools(this.#open.tools, message, { signal });
    this.#messages = [...this.#messages, ...results];
    const step = singleStep({ messages: results, reward: this.#rewardOf(this.#count(message, results)) });
    const { tools } = this.#open;
    if (tools.length === this.#shown.length && tools.every((tool, i) => tool === this.#shown[i])) return step;
    this.#shown = tools;
    return { ...step, observation: { ...step.observation, agent: SINGLE_AGENT, tools: tools.map(definitionOf) } };
  }

  async #finish(answer: string, signal: AbortSignal): Promise<StepResult> {
    const given = { answer, messages: this.#messages, signal };
    const grade = await gradeOf(given, this.#task, this.#options, this.#context);
    const reward = grade.scored ? this.#rewardOf(NO_CALLS, grade.value) : grade;
    return singleStep({ reward, terminated: true });
  }

  /** Counts the calls of a turn, and records the successful ones. */
  #count(message: Message, results: readonly Message[]): TurnCalls {
    const names = toolCalls(message).map(({ name }) => name);
    const known = names.filter((name) => this.#shown.some((tool) => tool.name === name));
    const successful = results
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === "tool-result" && !part.isError ? [part.name] : []));
    return {
      required_tool: successful.reduce((sum, name) => sum + this.#required.cover(name), 0),
      other_tool: known.filter((name) => this.#required.isOther(name)).length,
      unknown_tool: names.length - known.length,
      malformed: message.parts.filter(({ type }) => type === "malformed-call").length,
    };
  }

  /** @param answer grade of the answer in the last turn */
  #rewardOf(calls: TurnCalls, answer?: number): Reward {
    const end: EpisodeEnd | undefined =
      answer === undefined
        ? undefined
        : { answer, coverage: this.#required.coverage, share: this.#turn / this.#options.turns };
    return rewardOf(this.#options.rewards, calls, end);
  }
}

const NO_CALLS: TurnCalls = { required_tool: 0, other_tool: 0, unknown_tool: 0, malformed: 0 };

/** Returns the description of a tool without its function. */
export function definitionOf({ name, description, parameters }: ToolDefinition): ToolDefinition {
  return { name, description, parameters };
}
