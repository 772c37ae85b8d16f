/**
 * npm run bench -- judge --base-url URL --model NAME [--api-key-env VARIABLE] [--answers schema|object|text] [--price-input N] [--price-output N]
 * [--max-tokens N] [--concurrency N] [--json]: a model as judge:llm@2 of labelled pairs of answers, in both orders, and of the same pairs with an injection
 * in the worse answer. Prices are of a million tokens.
 */
import { parseArgs } from "node:util";
import { LlmJudge } from "../../plugins/judge-llm/src/llm-judge.ts";
import { silentLogger } from "@mrlm/kit/service";
import { createModelClient } from "@mrlm/model-client";
import { llmOptions } from "../../plugins/judge-llm/src/options.ts";
import { measureJudge } from "./measure.ts";

const { values } = parseArgs({
  options: {
    "base-url": { type: "string" },
    model: { type: "string" },
    "api-key-env": { type: "string" },
    answers: { type: "string", default: "schema" },
    "price-input": { type: "string", default: "0" },
    "price-output": { type: "string", default: "0" },
    "max-tokens": { type: "string", default: "2048" },
    concurrency: { type: "string", default: "8" },
    json: { type: "boolean", default: false },
  },
});
const { model, "base-url": baseUrl, "api-key-env": keyEnv } = values;
if (model === undefined || baseUrl === undefined) {
  console.error("State the endpoint and the model: npm run bench -- judge --base-url URL --model NAME");
  process.exit(2);
}

const options = llmOptions.parse({
  endpoint: {
    base_url: baseUrl,
    model,
    ...(keyEnv === undefined ? {} : { api_key_env: keyEnv }),
    json: values.answers,
    concurrency: Number(values.concurrency),
    timeout_ms: 300_000,
    prices: { [model]: { input: Number(values["price-input"]), output: Number(values["price-output"]) } },
  },
  max_tokens: Number(values["max-tokens"]),
  deadline_ms: 3_600_000, // requests wait for places
});
const client = createModelClient(options.endpoint);
const start = performance.now();
const measured = await measureJudge(new LlmJudge(client, options, silentLogger));
const { requests, failures, repairs, inputTokens, outputTokens, cost, queueMs, modelMs } = client.stats();
await client.close();

const figures = {
  ...measured,
  requests,
  repairs,
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cost,
  seconds: (performance.now() - start) / 1000,
  model_seconds: modelMs / 1000,
  queue_seconds: queueMs / 1000,
};
const rounded = Object.fromEntries(
  Object.entries(figures).map(([name, value]) => [name, Number.isNaN(value) ? null : Number(value.toPrecision(4))]),
);
if (!values.json) console.table(Object.entries(rounded).map(([figure, value]) => ({ figure, value })));
console.log(JSON.stringify({ bench: "judge", model, figures: rounded, failures }));
