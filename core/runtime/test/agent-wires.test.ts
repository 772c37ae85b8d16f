import { expect, test } from "@jest/globals";
import { type AgentModel, agentEnvironment } from "@mrlm/kit/agent";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { score, type Trajectory } from "@mrlm/spec";
import type { Sampler } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { collect, localHost, runner } from "./support/rollouts.ts";

const alphabet = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(32 + i)).join("");
const tokenizerFiles = characterTokenizerFiles({ alphabet: `${alphabet}\n`, tags: ["<tool_call>", "</tool_call>"] });
const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [1] });
const CALL =
  '<think>\nHm.\n</think>\n\nI look.\n<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>';

/** Policy that calls a tool, and answers when it has read the result. */
class ScriptedEngine extends BigramEngine {
  override async sampler(): Promise<Sampler> {
    return {
      async sample({ prompt }) {
        const text = renderer.tokenizer.decodeText(prompt).includes("found a") ? "Found it." : CALL;
        const tokens = Int32Array.from([...renderer.tokenizer.encode(text), 1]);
        const logprobs = Float32Array.from(tokens, (token, i) => -(token + i) / 1_000);
        return { tokens, logprobs, versions: tokens.map(() => 1), stopReason: "stop", truncatedSupport: false };
      },
      barrier: () => undefined,
      close: async () => undefined,
    };
  }
}

async function post({ baseURL, apiKey, fetch: send, name }: AgentModel, path: string, body: object): Promise<any> {
  const response = await send(`${baseURL}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: name, ...body }),
  });
  const answer = (await response.json()) as any;
  if (response.status !== 200) throw new Error(JSON.stringify(answer));
  return answer;
}

const PARAMETERS = { type: "object", properties: { q: { type: "string" } } };
const FUNCTION = { name: "search", description: "Search.", parameters: PARAMETERS };

/** One conversation by each API: a call of a tool, its result, and the answer. */
const programs: Readonly<Record<string, (model: AgentModel) => Promise<void>>> = {
  async chat(model) {
    const messages: object[] = [
      { role: "system", content: "Help." },
      { role: "user", content: "Go" },
    ];
    const ask = () => post(model, "/chat/completions", { messages, tools: [{ type: "function", function: FUNCTION }] });
    const [{ message }] = (await ask()).choices;
    messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "found a" });
    await ask();
  },
  async Responses(model) {
    const input: object[] = [{ role: "user", content: "Go" }];
    const ask = () =>
      post(model, "/responses", { instructions: "Help.", input, tools: [{ type: "function", ...FUNCTION }] });
    const { output } = await ask();
    const { call_id } = output.find(({ type }: { readonly type: string }) => type === "function_call");
    input.push(...output, { type: "function_call_output", call_id, output: "found a" });
    await ask();
  },
  async Messages(model) {
    const messages: object[] = [{ role: "user", content: "Go" }];
    const { parameters: input_schema, ...tool } = FUNCTION;
    const body = { max_tokens: 300, system: "Help.", messages, tools: [{ ...tool, input_schema }] };
    const { content } = await post(model, "/messages", body);
    const { id } = content.find(({ type }: { readonly type: string }) => type === "tool_use");
    const result = { type: "tool_result", tool_use_id: id, content: [{ type: "text", text: "found a" }] };
    messages.push({ role: "assistant", content }, { role: "user", content: [result] });
    await post(model, "/messages", body);
  },
};

async function played(program: (model: AgentModel) => Promise<void>): Promise<Trajectory> {
  const environment = agentEnvironment<unknown>({
    id: "wires@1",
    description: "A conversation with a tool.",
    tasks: () => ({ splits: { train: 1, eval: 0 }, get: async () => ({ id: "train/0", public: {}, private: {} }) }),
    run: ({ model }) => program(model),
    score: ({ end }) => (end.kind === "returned" ? 1 : 0),
  });
  const engine = new ScriptedEngine();
  const config = {
    vocab_size: renderer.vocabSize,
    initializer_range: 1,
    eos_token_id: 1,
    max_position_embeddings: 4_096,
  };
  await engine.createModel({
    ...{ model: "policy", role: "policy", trainable: true },
    source: { kind: "random", config, seed: 3, tokenizerFiles },
  });
  await engine.publish("policy");
  const host = await localHost(environment);
  const rollouts = await runner({ host, engine, renderer: () => renderer, tokenLimit: () => 4_096 });
  const sampling = { temperature: 1, maxTokens: 300 };
  const groups = await collect(rollouts, {
    ...{ environment: { id: "wires" }, tasks: ["train/0"], groupSize: 1, sampling },
  });
  await host.close();
  return groups[0]?.trajectories[0] as Trajectory;
}

test("the same conversation by the three APIs has the same rows: tokens, log-probabilities, masks and rewards", async () => {
  const [first, ...others] = await Promise.all(Object.values(programs).map(played));
  const { error, turns, agents } = first as Trajectory;
  expect([error, turns.length, agents["agent"]?.total]).toEqual([undefined, 2, score(1)]);
  // The template leaves out the reasoning of an earlier turn: each turn is a segment.
  const segments = agents["agent"]?.segments ?? [];
  const [called, last] = segments.map(({ tokens }) => renderer.tokenizer.decodeText(tokens));
  for (const each of ["Help.", "Go", '"name": "search"', "Hm."]) expect(called).toContain(each);
  for (const each of ["I look.", "found a", "Found it."]) expect(last).toContain(each);
  for (const { mask } of segments) expect(mask).toContain(1);
  const rowsOf = ({ seconds: _, info: __, ...rows }: Trajectory): unknown => rows;
  for (const each of others) expect(rowsOf(each)).toEqual(rowsOf(first as Trajectory));
});
