import { expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import type { AgentModel } from "@mrlm/kit/agent";
import { solve } from "../../examples/agent/fixtures.ts";
import { articleOf, priceOf } from "../../examples/agent/shop.ts";
import { clientPackages } from "./support/client-packages.ts";
import { playProgram } from "./support/play-program.ts";

const found = await clientPackages([
  ...["ai@7.0.173", "@ai-sdk/openai@4.0.118", "@ai-sdk/openai-compatible@3.0.92", "zod@4.6.7"],
  ...["@openai/agents@0.20.0", "openai@7.57.0"],
  ...["@langchain/langgraph@1.7.3", "@langchain/openai@1.5.8", "@langchain/core@1.4.0"],
]);
const load = "load" in found ? found.load : () => Promise.reject(new Error(found.reason));

/** Agents of docs/train/your-agent.md: that of examples/agent in other frameworks. Each returns the price of an order. */
const agents: Readonly<Record<string, (model: AgentModel, order: string) => Promise<string>>> = {
  LangGraph: async ({ name, apiKey, baseURL, fetch }, order) => {
    const [{ ChatOpenAI }, { createReactAgent }] = [
      await load("@langchain/openai"),
      await load("@langchain/langgraph/prebuilt"),
    ];
    const [{ tool }, { z }] = [await load("@langchain/core/tools"), await load("zod")];
    const llm = new ChatOpenAI({ model: name, apiKey, configuration: { baseURL, fetch } });
    const tools = [
      tool(({ id }: { id: string }) => articleOf(id), { name: "order", schema: z.object({ id: z.string() }) }),
      tool(({ article }: { article: string }) => priceOf(article), {
        name: "price",
        schema: z.object({ article: z.string() }),
      }),
    ];
    const { messages } = await createReactAgent({ llm, tools }).invoke({
      messages: [{ role: "user", content: order }],
    });
    return messages.at(-1).content;
  },
  "the Agents SDK": async ({ name, apiKey, baseURL, fetch }, order) => {
    const { Agent, OpenAIChatCompletionsModel, run, setTracingDisabled, tool } = await load("@openai/agents");
    const [{ default: OpenAI }, { z }] = [await load("openai"), await load("zod")];
    setTracingDisabled(true);
    const model = new OpenAIChatCompletionsModel(new OpenAI({ apiKey, baseURL, fetch }), name);
    const tools = [
      tool({
        name: "order",
        description: "Returns the article of an order.",
        parameters: z.object({ id: z.string() }),
        execute: async ({ id }: { id: string }) => articleOf(id),
      }),
      tool({
        name: "price",
        description: "Returns the price of an article.",
        parameters: z.object({ article: z.string() }),
        execute: async ({ article }: { article: string }) => priceOf(article),
      }),
    ];
    return (await run(new Agent({ name: "orders", tools, model }), order)).finalOutput;
  },
};

for (const [name, agent] of Object.entries(agents)) {
  const title = `the agent of examples/agent with ${name} finds the price by the worked solution`;
  if ("reason" in found) test.skip(`${title} (${found.reason})`, () => undefined);
  else
    test(title, async () => {
      const price = priceOf(articleOf("417"));
      const answers = solve({ id: "train/0", public: { order: "417" }, private: { price } });
      const { result, counts } = await playProgram(
        ({ model }) => agent(model, "417"),
        answers.map((each) => (typeof each === "string" ? textMessage("assistant", each) : each)),
      );
      expect([result, counts["calls"], counts["segments"]]).toEqual([price, 3, 1]);
    });
}
