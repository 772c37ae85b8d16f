import { once } from "node:events";
import { expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";
import { createMrlm } from "../src/index.ts";
import { answer, callOf, type Reply, type ScriptedModel, scriptedModel } from "./support/scripted-model.ts";

const CONTENT = [{ logprob: -0.5 }, { logprob: -0.25 }, { logprob: -0.125 }];
const SPANS = [
  { version: 3, start: 0, end: 2 },
  { version: 4, start: 2, end: 3 },
];
const METADATA = {
  promptTokenIds: [1, 2],
  tokenIds: [7, 8, 9],
  logprobs: [-0.5, -0.25, -0.125],
  weightVersions: SPANS,
};
const WHOLE = answer(
  { content: "Four.", reasoning_content: "2 and 2" },
  {
    choice: { logprobs: { content: CONTENT }, token_ids: [7, 8, 9], weight_versions: SPANS },
    body: { prompt_token_ids: [1, 2] },
  },
);
const chunk = (delta: JsonObject, choice: JsonObject = {}, body: JsonObject = {}): JsonObject => ({
  ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 0, model: "policy" },
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...body,
});
const STREAM = [
  chunk(
    { role: "assistant", content: "", reasoning_content: "2 and 2" },
    { logprobs: { content: CONTENT.slice(0, 1) }, token_ids: [7] },
    { prompt_token_ids: [1, 2] },
  ),
  chunk({ content: "Four." }, { logprobs: { content: CONTENT.slice(1) }, token_ids: [8, 9] }),
  chunk({}, { logprobs: null, finish_reason: "stop", weight_versions: SPANS }),
  { ...chunk({}), choices: [], usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 } },
];

function scripted(...replies: readonly Reply[]) {
  const program: ScriptedModel = scriptedModel(...replies);
  return { program, model: createMrlm(program)(program.name) };
}

test("a whole answer has its tokens in the metadata", async () => {
  const { program, model } = scripted(WHOLE);
  const { text, reasoningText, providerMetadata, usage, finishReason } = await generateText({
    model,
    prompt: "2 + 2",
    maxOutputTokens: 8,
    providerOptions: { mrlm: { top_k: 5 } },
  });
  expect({ text, reasoningText, finishReason }).toEqual({
    text: "Four.",
    reasoningText: "2 and 2",
    finishReason: "stop",
  });
  expect(providerMetadata).toEqual({ mrlm: METADATA });
  expect(usage).toMatchObject({ inputTokens: 2, outputTokens: 3 });
  const { url, headers, body } = program.requests[0] as ScriptedModel["requests"][number];
  expect(url).toBe("http://mrlm.invalid/v1/chat/completions");
  expect(headers.get("authorization")).toBe("Bearer episode-key");
  expect(body).toEqual({
    ...{ model: "policy", messages: [{ role: "user", content: "2 + 2" }], max_tokens: 8, top_k: 5 },
    ...{ logprobs: true, return_token_ids: true },
  });
});

test("a streamed answer has the same text, tokens and usage", async () => {
  const { program, model } = scripted(STREAM);
  const result = streamText({ model, prompt: "2 + 2" });
  expect(await Array.fromAsync(result.textStream)).toEqual(["Four."]);
  expect(await result.reasoningText).toBe("2 and 2");
  expect(await result.providerMetadata).toEqual({ mrlm: METADATA });
  expect(await result.usage).toMatchObject({ inputTokens: 2, outputTokens: 3 });
  expect(program.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
});

test("lists are empty where the server returns no tokens", async () => {
  const { model } = scripted(answer({ content: "Four." }, { choice: { logprobs: null } }));
  const { providerMetadata } = await generateText({ model, prompt: "2 + 2" });
  expect(providerMetadata).toEqual({
    mrlm: { promptTokenIds: [], tokenIds: [], logprobs: [], weightVersions: [] },
  });
});

test("tools are called, and their results are sent as the program gives them", async () => {
  const { program, model } = scripted(
    answer({ ...callOf("c1", "add", { a: 2, b: 2 }), reasoning_content: "I add." }),
    answer({ content: "Four." }),
  );
  const add = tool({
    description: "Adds.",
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => ({ sum: a + b }),
    toModelOutput: ({ output }) => ({ type: "content", value: [{ type: "text", text: `It is ${output.sum}.` }] }),
  });
  const { text, steps } = await generateText({
    model,
    prompt: "2 + 2",
    tools: { add },
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? { type: "tool", toolName: "add" } : "auto" }),
    stopWhen: stepCountIs(2),
  });
  expect({ text, steps: steps.length }).toEqual({ text: "Four.", steps: 2 });
  const [first, second] = program.requests.map(({ body }) => body);
  expect(first).toMatchObject({
    tool_choice: { type: "function", function: { name: "add" } },
    tools: [{ type: "function", function: { name: "add", description: "Adds.", parameters: { type: "object" } } }],
  });
  expect((second?.["messages"] as JsonObject[] | undefined)?.slice(1)).toEqual([
    { role: "assistant", content: null, reasoning_content: "I add.", ...callOf("c1", "add", { a: 2, b: 2 }) },
    { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "It is 4." }] },
  ]);
});

test("an object is requested by its JSON Schema", async () => {
  const { program, model } = scripted(answer({ content: '{"sum":4}' }));
  const parameters = { type: "object", properties: { sum: { type: "number" } } } as const;
  const { output } = await generateText({
    model,
    prompt: "2 + 2",
    output: Output.object({ schema: jsonSchema(parameters) }),
  });
  expect(output).toEqual({ sum: 4 });
  expect(program.requests[0]?.body).toMatchObject({
    response_format: { type: "json_schema", json_schema: { schema: parameters, strict: true } },
  });
});

test("an error of the server keeps its message and status", async () => {
  const error = {
    message: "Unsupported parameter: 'x'.",
    type: "invalid_request_error",
    code: "unsupported_parameter",
  };
  const { model } = scripted(Response.json({ error }, { status: 400 }));
  const failed = await generateText({ model, prompt: "2 + 2" }).catch((reason: unknown) => reason);
  expect(APICallError.isInstance(failed)).toBe(true);
  expect(failed).toMatchObject({ message: error.message, statusCode: 400, isRetryable: false });
});

test("an abort ends a request under way", async () => {
  const controller = new AbortController();
  const model = createMrlm({
    baseURL: "http://mrlm.invalid/v1",
    async fetch(_url, init) {
      const aborted = once(init?.signal as AbortSignal, "abort");
      controller.abort(new Error("enough"));
      await aborted;
      throw init?.signal?.reason;
    },
  })("policy");
  const answered = generateText({ model, prompt: "2 + 2", abortSignal: controller.signal });
  await expect(answered).rejects.toThrow("enough");
});
