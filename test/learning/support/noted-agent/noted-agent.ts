import { createMrlm } from "@mrlm/ai-sdk";
import { definePlugin, generatedTasks, randomStream } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { generateText, type LanguageModel, stepCountIs, tool } from "ai";
import { z } from "zod";

export const priceOf = (order: string): string => String(randomStream("price", Number(order)).integer(10, 99));
export const reversed = (order: string): string => [...order].reverse().join("");

/** Agent that answers the price of an order and the digits of the order backwards: `83 714` for 417. */
export async function answer(model: LanguageModel, order: string): Promise<string> {
  const price = tool({
    description: "Returns the price of an order.",
    inputSchema: z.object({ id: z.string() }),
    execute: ({ id }) => priceOf(id),
  });
  const shared = { temperature: 0, maxRetries: 0, stopWhen: stepCountIs(3) };
  return (await generateText({ model, prompt: order, tools: { price }, ...shared })).text;
}

export const noted = agentEnvironment({
  id: "noted@1",
  description: "Answer the price of an order and its digits backwards.",
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 8 }, eval: { size: 50, share: 1 } },
      generate: (random) => {
        const order = String(random.integer(100, 999));
        return { public: { order }, private: { wanted: `${priceOf(order)} ${reversed(order)}` }, key: order };
      },
    }),
  run: ({ task, model }) => answer(createMrlm(model)(model.name), task.public.order),
  score: ({ end, task }) => (end.kind === "returned" ? Number(end.result === task.private.wanted) : undefined),
});

export default definePlugin({ name: "noted-agent", environments: [noted] });
