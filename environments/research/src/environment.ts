import {
  type Action,
  type AgentId,
  anyTask,
  callTools,
  type EnvironmentContext,
  type Message,
  messageText,
  type Observation,
  type ResetOptions,
  type Reward,
  score,
  type SimulatedEnvironment,
  type StepResult,
  type Task,
  taskById,
  type Tool,
} from "@mrlm/kit";
import { BROWSE, BrowseCalls } from "./browse-calls.ts";
import { Browser } from "./browser.ts";
import { Conversation } from "./conversation.ts";
import type { ResearchOptions } from "./options.ts";
import { browserPrompt, mainPrompt } from "./prompt.ts";
import { hiddenOf, shownOf } from "./task.ts";

const MAIN: AgentId = "main";

/** Parts of a step beside its observation. */
type Outcome = Pick<StepResult, "rewards" | "terminated" | "truncated">;
const NOTHING: Outcome = { rewards: {}, terminated: {}, truncated: {} };

/** One question. `main` starts browsers, one for each call, whose contexts are fresh, and answers from their reports. */
export class ResearchEnvironment implements SimulatedEnvironment {
  readonly #context: EnvironmentContext;
  readonly #options: ResearchOptions;
  #task!: Task;
  #open!: { readonly tools: readonly Tool[] };
  #main!: Conversation;
  #messages: Message[] = [];
  #turns = 0;
  /** Calls of the last message of `main`, while their browsers work. */
  #calls: BrowseCalls | undefined;
  #browser: Browser | undefined;
  #browsers: AgentId[] = [];

  constructor(context: EnvironmentContext, options: ResearchOptions) {
    this.#context = context;
    this.#options = options;
  }

  async reset({ seed, task, signal }: ResetOptions): Promise<Observation> {
    this.#task = await taskById(this.#context.tasks, task ?? anyTask(this.#context, seed ?? 0));
    this.#open = await this.#context.tools(this.#options.toolset).open({
      task: { id: this.#task.id, public: this.#task.public },
      seed: seed ?? null,
      files: hiddenOf(this.#task).site ?? {},
      signal,
    });
    const prompt = mainPrompt(this.#task, this.#options);
    this.#main = new Conversation(MAIN, prompt, this.#options.context);
    this.#messages = [prompt];
    [this.#turns, this.#calls, this.#browser, this.#browsers] = [0, undefined, undefined, []];
    return this.#main.start([BROWSE]);
  }

  async step(action: Action, { signal }: { readonly signal: AbortSignal }): Promise<StepResult> {
    if (action.agent === MAIN) this.#messages.push(action.message);
    const conversation = action.agent === MAIN ? this.#main : (this.#browser as Browser).conversation;
    if (conversation.awaitsSummary && action.finishReason !== "exhausted")
      return { observation: conversation.summarised(messageText(action.message)), ...NOTHING };
    return action.agent === MAIN ? this.#stepMain(action, signal) : this.#stepBrowser(action, signal);
  }

  async #stepMain({ message, finishReason }: Action, signal: AbortSignal): Promise<StepResult> {
    this.#turns++;
    const hasCalls = message.parts.some(({ type }) => type === "tool-call" || type === "malformed-call");
    const isOver = finishReason === "exhausted" || (hasCalls && this.#turns >= this.#options.main_turns);
    if (isOver) return this.#end(score(0, { answer: 0 }), { truncated: { [MAIN]: true } });
    if (!hasCalls) return this.#end(await this.#grade(messageText(message), signal), { terminated: { [MAIN]: true } });
    this.#calls = new BrowseCalls(message, this.#options.browsers - this.#browsers.length);
    return this.#continue(NOTHING, signal);
  }

  async #stepBrowser({ agent, message, finishReason }: Action, signal: AbortSignal): Promise<StepResult> {
    const browser = this.#browser as Browser;
    const { tools } = this.#open;
    const turn =
      finishReason === "exhausted"
        ? "over"
        : browser.act(
            message,
            tools.map(({ name }) => name),
          );
    if (turn === "calls") {
      const results = await callTools(tools, message, { signal });
      return { observation: browser.conversation.show(message, results), ...NOTHING };
    }
    const { result, reward } = turn === "report" ? browser.report(message) : browser.unfinished();
    this.#calls?.add(result);
    const ended = { [agent]: true };
    const flags = turn === "report" ? { terminated: ended, truncated: {} } : { terminated: {}, truncated: ended };
    return this.#continue({ rewards: { [agent]: reward }, ...flags }, signal);
  }

  /** Starts the next browser, or shows `main` the results of all. */
  async #continue(outcome: Outcome, signal: AbortSignal): Promise<StepResult> {
    const calls = this.#calls as BrowseCalls;
    const goal = calls.nextGoal;
    if (goal !== undefined) {
      const agent = `browser#${this.#browsers.length + 1}`;
      this.#browsers.push(agent);
      const conversation = new Conversation(agent, browserPrompt(goal, this.#options), this.#options.context);
      this.#browser = new Browser(conversation, this.#options);
      return { observation: conversation.start(this.#open.tools.map(definitionOf)), ...outcome };
    }
    const results = await calls.messages(signal);
    this.#messages.push(...results);
    this.#calls = undefined;
    this.#browser = undefined;
    return { observation: this.#main.show(calls.message, results), ...outcome };
  }

  /** Ends the episode. All browsers have ended before: they work while `main` waits. */
  #end(grade: Reward, flags: Partial<Outcome>): StepResult {
    const { answer, browser_answer } = this.#options.rewards;
    const weighted = (weight: number): Reward =>
      grade.scored ? score(weight * grade.value, { answer: grade.value }) : grade;
    const shared = browser_answer === 0 ? [] : this.#browsers.map((agent) => [agent, weighted(browser_answer)]);
    return {
      observation: { agent: "", messages: [] },
      ...NOTHING,
      ...flags,
      rewards: { [MAIN]: weighted(answer), ...Object.fromEntries(shared) },
    };
  }

  /** Grades an answer. The reward is unscored if the scorer fails, or cannot read the expected answer. */
  async #grade(answer: string, signal: AbortSignal): Promise<Reward> {
    const { reward } = await this.#context.scorer(this.#options.scorer).score({
      answer,
      expected: hiddenOf(this.#task).answer,
      schema: this.#options.answer_schema,
      question: shownOf(this.#task).question,
      messages: this.#messages,
      signal,
    });
    return reward;
  }
}

function definitionOf({ name, description, parameters }: Tool): Pick<Tool, "name" | "description" | "parameters"> {
  return { name, description, parameters };
}
