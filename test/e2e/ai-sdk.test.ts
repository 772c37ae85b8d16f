import { afterEach, expect, test } from "@jest/globals";
import { createMrlm, fromAiTools, type MrlmMetadata, toAiTools } from "@mrlm/ai-sdk";
import { toolset } from "@mrlm/kit";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { type PolicySource, servePolicies } from "@mrlm/policy-server";
import type { SampledChunk } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { APICallError, generateText, type LanguageModel, stepCountIs, streamText, tool, type ToolSet } from "ai";
import { z } from "zod";

const ascii = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
const renderer = chatRenderer({
  tokenizerFiles: characterTokenizerFiles({ alphabet: `${ascii}\n`, tags: ["<tool_call>", "</tool_call>"] }),
  eosTokenIds: [1],
});
const tokensOf = (text: string): number[] => [...renderer.tokenizer.encode(text), 1];

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Returns a policy that writes these texts in turn, a token a chunk. Token i has the log-probability -(i + 1) / 8. */
function writing(texts: readonly string[]): PolicySource {
  let turn = 0;
  const chunkOf = (tokens: readonly number[], from: number): SampledChunk => ({
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(tokens, (_, i) => -(from + i + 1) / 8),
    versions: new Int32Array(tokens.length).fill(3),
  });
  const engine: PolicySource["engine"] = {
    describe: async () => ({ ...(await new BigramEngine({ deterministic: false }).describe()) }),
    forward: () => Promise.reject(new Error("This policy has no model.")),
    sampler: async () => ({
      async sample(_request, { onTokens } = {}) {
        const tokens = tokensOf(texts[turn++] ?? "");
        tokens.forEach((token, i) => onTokens?.(chunkOf([token], i)));
        return { ...chunkOf(tokens, 0), stopReason: "stop", truncatedSupport: false };
      },
      barrier: () => undefined,
      close: async () => undefined,
    }),
  };
  return { id: "policy", engine, model: "policy", renderer, maxPositions: 4_096 };
}

/** Serves the policy, and returns it as a model of the AI SDK. */
async function served(...texts: readonly string[]): Promise<LanguageModel> {
  const server = await servePolicies({ policies: [writing(texts)], address: "127.0.0.1:0" });
  closing.push(() => server.close());
  return createMrlm({ baseURL: `http://127.0.0.1:${server.port}/v1` })("policy");
}

const CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n</tool_call>';
const add = tool({
  description: "Adds.",
  inputSchema: z.object({ a: z.number().describe("One."), b: z.number().describe("Another.") }),
  execute: ({ a, b }) => a + b,
  toModelOutput: ({ output }) => ({
    type: "content",
    value: [
      { type: "text", text: "The sum" },
      { type: "text", text: ` is ${output}.` },
    ],
  }),
});
const ask = { prompt: "2 + 2", stopWhen: stepCountIs(2) };
const metadataOf = (steps: readonly { readonly providerMetadata: unknown }[]): MrlmMetadata[] =>
  steps.map(({ providerMetadata }) => (providerMetadata as { mrlm: MrlmMetadata }).mrlm);

async function whole(model: LanguageModel, tools: ToolSet) {
  const { text, steps } = await generateText({ model, tools, ...ask });
  return { text, metadata: metadataOf(steps) };
}

async function streamed(model: LanguageModel, tools: ToolSet) {
  const result = streamText({ model, tools, ...ask });
  return { text: await result.text, metadata: metadataOf(await result.steps) };
}

test.each([
  ["whole", whole],
  ["streamed", streamed],
])("an agent with a tool, %s: each call has the tokens that were sampled", async (_, play) => {
  const { text, metadata } = await play(await served(`I add.${CALL}`, "It is 4."), { add });
  expect(text).toBe("It is 4.");
  for (const [i, sampled] of [tokensOf(`I add.${CALL}`), tokensOf("It is 4.")].entries()) {
    expect(metadata[i]?.tokenIds).toEqual(sampled);
    expect(metadata[i]?.logprobs).toEqual(sampled.map((__, t) => -(t + 1) / 8));
    expect(metadata[i]?.weightVersions).toEqual([{ version: 3, start: 0, end: sampled.length }]);
  }
  // The policy reads the texts of a result as the environment would render them.
  const prompt = renderer.tokenizer.decode(Int32Array.from(metadata[1]?.promptTokenIds ?? []));
  expect(prompt).toContain("I add.");
  expect(prompt).toContain("The sum is 4.");
});

test("tools of an environment serve the same agent", async () => {
  const { signal } = new AbortController();
  const random = (): never => {
    throw new Error("No tool here draws.");
  };
  const opened = await toolset(await fromAiTools({ add })).open({ seed: 1, signal, random });
  const native = await whole(await served(CALL, "It is 4."), { add });
  expect(await whole(await served(CALL, "It is 4."), toAiTools(opened))).toEqual(native);
});

test("an error of the server has its status and message", async () => {
  const model = await served("It is 4.");
  const failed = await generateText({ model, prompt: "x".repeat(5_000) }).catch((error: unknown) => error);
  expect(APICallError.isInstance(failed)).toBe(true);
  expect(failed).toMatchObject({ statusCode: 400, isRetryable: false, message: expect.stringContaining("4096") });
});
