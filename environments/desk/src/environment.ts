import {
  type Action,
  anyTask,
  callTools,
  type Demonstration,
  type EnvironmentContext,
  type Message,
  messageText,
  type Observation,
  type ResetOptions,
  score,
  type SimulatedEnvironment,
  type StepResult,
  type Task,
  taskById,
  type TaskId,
  textMessage,
  type Tool,
  toolCalls,
} from "@mrlm/kit";
import { scriptedPolicies } from "./customer.ts";
import { Desk } from "./desk.ts";
import type { DeskOptions } from "./options.ts";
import { planOf } from "./plan.ts";
import { policyOf, roleOf } from "./prompts.ts";
import type { PrivateDesk, PublicDesk } from "./tasks.ts";

type Context = EnvironmentContext<PublicDesk, PrivateDesk>;

/** A conversation of a customer (`user`) with an `agent`, which reads and changes a database by tools. It ends when the agent closes it. */
export class DeskEnvironment implements SimulatedEnvironment {
  readonly #context: Context;
  readonly #style: DeskOptions["style"];
  #task!: Task<PublicDesk, PrivateDesk>;
  #desk!: Desk;
  #tools: readonly Tool[] = [];
  #hasBegun = false;

  constructor(context: Context, { style }: DeskOptions) {
    this.#context = context;
    this.#style = style;
  }

  async reset({ seed = 0, task: id = anyTask(this.#context, seed), signal }: ResetOptions): Promise<Observation> {
    const task = await taskById(this.#context.tasks, id);
    this.#task = task;
    this.#hasBegun = false;
    this.#desk = new Desk(task.public, task.private, this.#style);
    const shown = { id: task.id, public: task.public };
    ({ tools: this.#tools } = await this.#context
      .tools(this.#desk.tools())
      .open({ task: shown, seed: seed as number, signal }));
    return { agent: "user", messages: [roleOf(task.public, task.private, this.#style)] };
  }

  async step(
    { agent, message, finishReason }: Action,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<StepResult> {
    if (finishReason === "exhausted") return this.#end(agent);
    if (agent === "user") return observed(this.#receive(messageText(message)));
    if (!hasCalls(message)) return observed({ agent: "user", messages: [textMessage("user", messageText(message))] });
    const messages = await callTools(this.#tools, message, { signal });
    return this.#desk.isClosed ? this.#end() : observed({ agent: "agent", messages });
  }

  /** Returns the observation of the agent after a message of the customer. */
  #receive(text: string): Observation {
    const message = textMessage("user", text);
    if (this.#hasBegun) return { agent: "agent", messages: [message] };
    this.#hasBegun = true;
    const tools = this.#tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
    return { agent: "agent", messages: [...policyOf(this.#task.public, this.#style), message], tools };
  }

  /** @param exhausted agent whose context is full, if that is the reason */
  #end(exhausted?: string): StepResult {
    const solved = Number(this.#desk.isClosed && this.#desk.isRight);
    return {
      observation: { agent: "", messages: [] },
      rewards: { agent: score(solved, { solved }) },
      terminated: { agent: exhausted !== "agent", user: exhausted !== "user" },
      truncated: { agent: exhausted === "agent", user: exhausted === "user" },
    };
  }
}

function observed(observation: Observation): StepResult {
  return { observation, rewards: {}, terminated: {}, truncated: {} };
}

function hasCalls(message: Message): boolean {
  return toolCalls(message).length > 0 || message.parts.some(({ type }) => type === "malformed-call");
}

/** Returns the agent's side of a conversation with the scripted customer. */
export async function demonstrate(context: Context, options: DeskOptions, id: TaskId): Promise<Demonstration> {
  const task = await taskById(context.tasks, id);
  const { signal } = new AbortController();
  const environment = new DeskEnvironment(context, options);
  const customer = scriptedPolicies.customer(context, {});
  const plan = planOf(task.public, task.private).values();
  let observation = await environment.reset({ task: id, seed: 0, signal });
  let tools: Demonstration["tools"];
  const messages: Message[] = [];
  while (observation.agent !== "") {
    let action: Action;
    if (observation.agent === "user") action = await customer.act(observation, { signal });
    else {
      const next = plan.next().value as string | Message;
      const message = typeof next === "string" ? textMessage("assistant", next) : next;
      tools ??= observation.tools;
      messages.push(...observation.messages, message);
      action = { agent: "agent", message, finishReason: "stop" };
    }
    ({ observation } = await environment.step(action, { signal }));
  }
  return { task: id, agent: "agent", messages, ...(tools === undefined ? {} : { tools }) };
}
