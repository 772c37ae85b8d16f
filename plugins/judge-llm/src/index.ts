/** A judge and a scorer by a language model behind an OpenAI-compatible endpoint. */
import { definePlugin, type PluginContext } from "@mrlm/kit";
import { createModelClient, type ModelClient } from "@mrlm/model-client";
import { examples } from "./examples.ts";
import { LlmJudge } from "./llm-judge.ts";
import { LlmScorer } from "./llm-scorer.ts";
import { llmOptions, type LlmOptions } from "./options.ts";

/** The judge and the scorer of one host share a client: its places, budget and recordings are limits of both. */
const clients = new WeakMap<LlmOptions, ModelClient>();

function clientOf({ dataPath, logger }: PluginContext, options: LlmOptions): ModelClient {
  const client = clients.get(options) ?? createModelClient(options.endpoint, { dataPath, logger });
  clients.set(options, client);
  return client;
}

export default definePlugin({
  name: "@mrlm/judge-llm",
  options: llmOptions,
  judges: {
    "llm@2": (context, options) => new LlmJudge(clientOf(context, options), options, context.logger),
  },
  scorers: { "llm@2": (context, options) => new LlmScorer(clientOf(context, options), options) },
  examples,
});
