import { Tokens } from "@mrlm/kit/access";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { type PolicySource, servePolicies } from "@mrlm/policy-server";
import type { SampledChunk, Sampler } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";

/** Policy server whose policies write texts, by functions of their prompts. */
export interface ScriptedServer {
  /** Without the version of the API. */
  readonly url: string;
  /** Prompts in the order of the requests. */
  readonly prompts: readonly (readonly number[])[];
  close(): Promise<void>;
}

/** Serves scripted policies, with calls in the form of hermes, under the token `secret`. */
export async function scriptedServer(
  policies: Readonly<Record<string, (prompt: string) => string>>,
): Promise<ScriptedServer> {
  const alphabet = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
  const tags = ["<tool_call>", "</tool_call>"];
  const tokenizerFiles = characterTokenizerFiles({ alphabet: `${alphabet}\n`, tags });
  const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [1] });
  const prompts: number[][] = [];
  const sources = Object.entries(policies).map(([id, write]): PolicySource => {
    const sampler: Sampler = {
      async sample({ prompt, params: { maxTokens } }, { onTokens } = {}) {
        prompts.push([...prompt]);
        const all = [...renderer.tokenizer.encode(write(renderer.tokenizer.decodeText(prompt))), 1];
        const tokens = all.slice(0, maxTokens);
        for (const token of tokens) {
          onTokens?.(chunkOf([token]));
          await new Promise((resolve) => setImmediate(resolve));
        }
        const stopReason = tokens.length < all.length ? "length" : "stop";
        return { ...chunkOf(tokens), stopReason, truncatedSupport: false };
      },
      barrier: () => undefined,
      close: async () => undefined,
    };
    const describe = () => new BigramEngine({ deterministic: false }).describe();
    const forward = () => Promise.reject(new Error("This policy has no model."));
    return {
      id,
      model: id,
      renderer,
      maxPositions: 4_096,
      engine: { describe, sampler: async () => sampler, forward },
    };
  });
  const server = await servePolicies({ policies: sources, address: "127.0.0.1:0", tokens: Tokens.of("secret") });
  return { url: `http://127.0.0.1:${server.port}`, prompts, close: () => server.close() };
}

function chunkOf(tokens: readonly number[]): SampledChunk {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: new Float32Array(tokens.length),
    versions: new Int32Array(tokens.length),
  };
}
