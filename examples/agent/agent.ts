import { type LanguageModel, ToolLoopAgent, tool } from "ai";
import { z } from "zod";
import { articleOf, priceOf } from "./shop.ts";

/** An agent of the AI SDK as it runs in production: it answers the price of an order. */
export async function answer(model: LanguageModel, order: string, abortSignal?: AbortSignal): Promise<string> {
  const agent = new ToolLoopAgent({
    model,
    maxRetries: 0,
    tools: {
      order: tool({
        description: "Returns the article of an order.",
        inputSchema: z.object({ id: z.string() }),
        execute: ({ id }) => (/^\d{3,4}$/.test(id) ? articleOf(id) : "none"),
      }),
      price: tool({
        description: "Returns the price of an article.",
        inputSchema: z.object({ article: z.string() }),
        execute: ({ article }) => (/^[a-z]{2}$/.test(article) ? priceOf(article) : "none"),
      }),
    },
  });
  return (await agent.generate({ prompt: order, ...(abortSignal && { abortSignal }) })).text;
}
