import {
  type Action,
  type EnvironmentContext,
  type EnvironmentDefinition,
  type JsonObject,
  type Message,
  type Observation,
  type Part,
  randomStream,
  type SimulatedEnvironment,
  type StepResult,
  textMessage,
} from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { agentEnvironment } from "../../../src/agent.ts";
import type { AgentDefinition, AgentModel } from "../../../src/agent.ts";

type Definition = AgentDefinition<unknown, JsonObject, JsonObject>;

/** Agent environment with one task, whose score is 1 unless the test states another. */
export function environment(definition: Partial<Definition> & Pick<Definition, "run">): EnvironmentDefinition {
  return agentEnvironment<unknown>({
    id: "agent@1",
    description: "Test.",
    tasks: () => ({
      splits: { train: 1, eval: 0 },
      get: async () => ({ id: "train/0", public: { question: "Q" }, private: { answer: "A" } }),
    }),
    score: () => 1,
    ...definition,
  }) as EnvironmentDefinition;
}

/** Opens an environment without a host. */
export async function open(definition: EnvironmentDefinition): Promise<SimulatedEnvironment> {
  const none = (): never => {
    throw new Error("no service");
  };
  const context: EnvironmentContext = {
    logger: silentLogger,
    tasks: { splits: {}, get: none },
    random: randomStream,
    ...{ scorer: none, judge: none, sandbox: none, workspaces: none, tools: none, dataPath: none },
  };
  const tasks = (await definition.tasks?.(context, {})) ?? context.tasks;
  return definition.create({ ...context, tasks }, {});
}

export interface Played {
  readonly observations: readonly Observation[];
  readonly last: StepResult;
}

type Answer = Message | "exhausted" | { readonly message: Message; readonly finishReason: Action["finishReason"] };

/** Plays an episode. The policy answers each observation by its number. */
export async function play(
  definition: EnvironmentDefinition,
  policy: (observation: Observation, turn: number) => Answer | Promise<Answer> = (_, i) =>
    textMessage("assistant", `answer ${i}`),
): Promise<Played> {
  const session = await open(definition);
  const { signal } = new AbortController();
  try {
    let observation = await session.reset({ task: "train/0", seed: 1, signal });
    const observations = [observation];
    for (;;) {
      const answer = await policy(observation, observations.length - 1);
      const given =
        answer === "exhausted"
          ? ({ message: { role: "assistant", parts: [] }, finishReason: "exhausted" } as const)
          : "parts" in answer
            ? ({ message: answer, finishReason: "stop" } as const)
            : answer;
      const last = await session.step({ agent: observation.agent, ...given }, { signal });
      if (last.observation.agent === "") return { observations, last };
      observations.push((observation = last.observation));
    }
  } finally {
    await session.close?.();
  }
}

export interface Sent {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly text: string;
}

/** Sends a chat request to a model, over its `fetch` or an address. */
export async function chat(
  model: AgentModel,
  body: object,
  more: { headers?: Record<string, string>; signal?: AbortSignal; baseURL?: string } = {},
): Promise<Sent> {
  const send = more.baseURL === undefined ? model.fetch : fetch;
  const response = await send(`${more.baseURL ?? model.baseURL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${model.apiKey}`, ...more.headers },
    body: JSON.stringify({ model: model.name, ...body }),
    ...(more.signal && { signal: more.signal }),
  });
  const text = await response.text();
  const isEvents = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return { status: response.status, body: isEvents ? eventsOf(text) : JSON.parse(text), text };
}

function eventsOf(text: string): unknown[] {
  return text.split("\n\n").flatMap((event) => {
    const data = event.startsWith("data: ") ? event.slice(6) : "[DONE]";
    return data === "[DONE]" ? [] : [JSON.parse(data)];
  });
}

export const call = (id: string, given: JsonObject = {}, name = "search"): Part => ({
  type: "tool-call",
  id,
  name,
  arguments: given,
});
export const assistant = (...parts: readonly (string | Part)[]): Message => ({
  role: "assistant",
  parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
});
export const user = (content: string) => ({ role: "user", content });
export const TOOLS = [{ type: "function", function: { name: "search", parameters: { type: "object" } } }];
