import { expect, test } from "@jest/globals";
import type { AgentModel } from "@mrlm/kit/agent";
import { clientPackages } from "./support/client-packages.ts";
import { assistant, call, playProgram } from "./support/play-program.ts";

const found = await clientPackages([
  ...["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/openai-compatible@3.0.92", "zod@4.6.7"],
  ...["@openai/agents@0.20.0", "openai@7.57.0"],
  ...["@langchain/langgraph@1.7.3", "@langchain/openai@1.5.8", "@langchain/core@1.4.0"],
]);
const ANSWERS = [
  assistant({ type: "thinking", text: "Hm." }, "I look.", call("q7Xk2PzA1", { q: "a" }), call("B", { q: "b" })),
  assistant("Found it."),
];
const load = "load" in found ? found.load : () => Promise.reject(new Error(found.reason));

/** Address, key and fetch of a model for the settings of a client. */
type Settings = Pick<AgentModel, "baseURL" | "apiKey" | "fetch" | "name">;
const transports: Readonly<Record<string, (model: AgentModel) => Promise<Settings>>> = {
  fetch: async (model) => model,
  "a socket": async (model) => ({ ...model, baseURL: (await model.listen()).baseURL, fetch }),
};

/** Agents with a tool `search`, by the functions that users call. Each returns its last text. */
const agents: Readonly<Record<string, (settings: Settings) => Promise<string>>> = {
  "generateText of ai": async (settings) => {
    const { generateText, stepCountIs } = await load("ai");
    const stopWhen = stepCountIs(5);
    return (await generateText({ model: await aiModel(settings), prompt: "Go", tools: await aiTools(), stopWhen }))
      .text;
  },
  "streamText of ai": async (settings) => {
    const { streamText, stepCountIs } = await load("ai");
    const stopWhen = stepCountIs(5);
    const result = streamText({ model: await aiModel(settings), prompt: "Go", tools: await aiTools(), stopWhen });
    let text = "";
    for await (const part of result.textStream) text += part;
    return text.replace("I look.", "");
  },
  "ToolLoopAgent of ai, by @ai-sdk/openai-compatible": async (settings) => {
    const { ToolLoopAgent } = await load("ai");
    const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
    const model = createOpenAICompatible({ ...settings, name: "mrlm" })(settings.name);
    return (
      await new ToolLoopAgent({ model, instructions: "Help.", tools: await aiTools() }).generate({ prompt: "Go" })
    ).text;
  },
  "generateText of ai, by Responses": async ({ name, ...settings }) => {
    const { generateText, stepCountIs } = await load("ai");
    const { createOpenAI } = await load("@ai-sdk/openai");
    const model = createOpenAI(settings).responses(name);
    const providerOptions = { openai: { store: false } };
    const tools = await aiTools();
    return (await generateText({ model, prompt: "Go", tools, stopWhen: stepCountIs(5), providerOptions })).text;
  },
  "@openai/agents": async (settings) => (await openaiAgent(settings)).finalOutput,
  "@openai/agents, streamed": async (settings) => await streamedOutput(await openaiAgent(settings, { stream: true })),
  "@openai/agents, by Responses": async (settings) =>
    (await openaiAgent(settings, { model: "OpenAIResponsesModel" })).finalOutput,
  "@openai/agents, by Responses, streamed": async (settings) =>
    await streamedOutput(await openaiAgent(settings, { model: "OpenAIResponsesModel", stream: true })),
  "an agent of LangGraph": async ({ baseURL, apiKey, fetch: send, name }) => {
    const { ChatOpenAI } = await load("@langchain/openai");
    const { createReactAgent } = await load("@langchain/langgraph/prebuilt");
    const { tool } = await load("@langchain/core/tools");
    const { z } = await load("zod");
    const settings = { name: "search", description: "Search.", schema: z.object({ q: z.string() }) };
    const tools = [tool(({ q }: { q: string }) => `found ${q}`, settings)];
    const llm = new ChatOpenAI({ model: name, apiKey, configuration: { baseURL, fetch: send } });
    const { messages } = await createReactAgent({ llm, tools }).invoke({ messages: [{ role: "user", content: "Go" }] });
    return messages.at(-1).content;
  },
};

async function aiModel({ name, ...settings }: Settings): Promise<unknown> {
  const { createOpenAI } = await load("@ai-sdk/openai");
  return createOpenAI(settings).chat(name);
}

async function aiTools(): Promise<unknown> {
  const { tool } = await load("ai");
  const { z } = await load("zod");
  const execute = async ({ q }: { q: string }): Promise<string> => `found ${q}`;
  return { search: tool({ description: "Search.", inputSchema: z.object({ q: z.string() }), execute }) };
}

async function openaiAgent(
  { name, ...settings }: Settings,
  { model: kind = "OpenAIChatCompletionsModel", stream = false } = {},
) {
  const { Agent, run, setTracingDisabled, tool, [kind]: Model } = await load("@openai/agents");
  const { default: OpenAI } = await load("openai");
  const { z } = await load("zod");
  setTracingDisabled(true);
  const parameters = z.object({ q: z.string() });
  const execute = async ({ q }: { q: string }): Promise<string> => `found ${q}`;
  const tools = [tool({ name: "search", description: "Search.", parameters, execute })];
  const model = new Model(new OpenAI(settings), name);
  return await run(new Agent({ name: "Agent", instructions: "Help.", tools, model }), "Go", { stream });
}

async function streamedOutput(result: Awaited<ReturnType<typeof openaiAgent>>): Promise<string> {
  for await (const _ of result);
  await result.completed;
  return result.finalOutput;
}

for (const [transport, settingsOf] of Object.entries(transports))
  for (const [name, agent] of Object.entries(agents)) {
    const title = `${name} plays a loop with tools over ${transport}`;
    if ("reason" in found) test.skip(`${title} (${found.reason})`, () => undefined);
    else
      test(title, async () => {
        const { result, counts, observations } = await playProgram(
          async ({ model }) => agent(await settingsOf(model)),
          ANSWERS,
        );
        // Most clients drop the reasoning.
        const segments = /openai-compatible|by Responses/.test(name) ? 1 : 2;
        expect([result, counts["segments"], counts["calls"]]).toEqual(["Found it.", segments, 2]);
        expect(observations[1]?.messages.at(-1)?.parts).toMatchObject([
          { id: "q7Xk2PzA1", content: [{ text: "found a" }] },
          { id: "B", content: [{ text: "found b" }] },
        ]);
      });
  }

(("reason" in found ? test.skip : test) as typeof test)(
  "generateObject of ai has an answer of its schema",
  async () => {
    const { result } = await playProgram(
      async ({ model }) => {
        const { generateObject } = await load("ai");
        const { z } = await load("zod");
        const schema = z.object({ a: z.number() });
        return (await generateObject({ model: await aiModel(model), schema, prompt: "Go" })).object;
      },
      [assistant('{"a":1}')],
    );
    expect(result).toEqual({ a: 1 });
  },
);
