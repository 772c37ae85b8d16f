import { createMrlm } from "@mrlm/ai-sdk";
import { definePlugin, generatedTasks } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { z } from "zod";
import { answer } from "./agent.ts";
import { fixtures, solve } from "./fixtures.ts";
import { articleOf, priceOf } from "./shop.ts";

const orders = agentEnvironment({
  id: "orders@1",
  description: "Answer the price of an order: look up its article, then the price of the article.",
  options: z.strictObject({
    digits: z.int().min(3).max(4).default(3).describe("Digits of an order: a shop has 900 or 9,000 of them"),
  }),
  tasks: (_, { digits }) =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 400, share: 8 }, eval: { size: 250, share: 1 } },
      generate: (random) => {
        const order = String(random.integer(10 ** (digits - 1), 10 ** digits - 1));
        return { public: { order }, private: { price: priceOf(articleOf(order)) }, key: order };
      },
    }),
  limits: { calls: 6 },
  run: ({ task, model, signal }) => answer(createMrlm(model)(model.name), task.public.order, signal),
  solve,
  fixtures,
  score: ({ end, task }) => (end.kind === "returned" ? Number(end.result === task.private.price) : undefined),
});

export default definePlugin({ name: "orders-agent", environments: [orders] });
