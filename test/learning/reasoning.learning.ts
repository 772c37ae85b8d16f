import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { createMrlm } from "@mrlm/ai-sdk";
import type { generatedTasks } from "@mrlm/kit";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { Mrlm, ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { writeConfig } from "../e2e/support/tiny-run.ts";
import { evaluationsOf } from "./support/evaluations.ts";
import { answer, noted, priceOf, reversed } from "./support/noted-agent/noted-agent.ts";

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools: readonly object[];
}

type Tasks = ReturnType<typeof generatedTasks<{ order: string }, { wanted: string }>>;

const PLUGIN = join(ROOT, "test/learning/support/noted-agent");
/** Condition under which a chat template shows the reasoning of a message: always, or in the last message alone. */
const TEMPLATES = { kept: "true", omitted: "loop.last" } as const;

describeWithEngine("reasoning between the calls of an agent (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test("a policy that was trained with its reasoning needs it in production; one whose template omits it does not", async () => {
    const tasks = (await noted.tasks?.({} as never, {} as never)) as Tasks;
    const demonstrations = join(output, "demonstrations.jsonl");
    const rows = await Promise.all(Array.from({ length: 400 }, async (_, i) => demonstration(tasks, i)));
    writeFileSync(demonstrations, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));

    const measured: Record<string, Record<string, number>> = {};
    for (const [name, isShown] of Object.entries(TEMPLATES)) {
      const config = writeConfig(output, configOf(tokenizer(name, isShown), demonstrations), `${name}.yaml`);
      const { code, events, stderr } = await run(["train", "--json", "--config", config, "--output", output]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const directory = events.find(({ event }) => event === "summary")?.["directory"] as string;
      const server = new Mrlm(["serve", "--model", directory, "--port", "0", "--json"]);
      const { address } = await server.event(({ event }) => event === "listening");
      const baseURL = `http://${String(address)}/v1`;
      measured[name] = {
        trained: evaluationsOf(events).at(-1)?.greedy ?? Number.NaN,
        returned: await accuracy(tasks, baseURL, fetch),
        dropped: await accuracy(tasks, baseURL, withoutReasoning),
      };
      server.child.kill("SIGTERM");
      await server.finished;
    }
    console.info("reasoning", measured);
    const { kept, omitted } = measured as Record<keyof typeof TEMPLATES, Record<string, number>>;
    expect(Math.min(kept["trained"] as number, kept["returned"] as number)).toBeGreaterThanOrEqual(0.9);
    expect(kept["dropped"]).toBeLessThanOrEqual(0.5);
    expect(Math.min(omitted["trained"] as number, omitted["dropped"] as number)).toBeGreaterThanOrEqual(0.9);
  }, 1_200_000);

  function tokenizer(name: string, isShown: string): string {
    const tags = ["<|tool_call_start|>", "<|tool_call_end|>", "<think>", "</think>", "price", "id"];
    const { "tokenizer.json": vocabulary, "tokenizer_config.json": settings } = characterTokenizerFiles({ tags });
    const text = new TextDecoder().decode(settings);
    const reasoning = `(('<think>' + message.reasoning_content + '</think>') if message.reasoning_content and ${isShown} else '')`;
    const changed = text.replace("'|>' + message.content", `'|>' + ${reasoning} + message.content`);
    expect(changed).not.toBe(text);
    const folder = join(output, `tokenizer-${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "tokenizer.json"), vocabulary as Uint8Array);
    writeFileSync(join(folder, "tokenizer_config.json"), changed);
    return folder;
  }

  function configOf(tokenizerFolder: string, demonstrations: string): object {
    const config = {
      ...{ model_type: "qwen2", hidden_size: 128, intermediate_size: 384, num_hidden_layers: 2 },
      ...{ num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 64, tie_word_embeddings: true },
    };
    return {
      name: "reasoning",
      model: { random: { config, tokenizer: tokenizerFolder } },
      plugins: { [PLUGIN]: true },
      environments: [{ id: "noted" }],
      sampling: { max_tokens: 24 },
      stages: [
        { algorithm: "sft", steps: 400, batch_size: 32, learning_rate: 2e-3, data: demonstrations },
        { algorithm: "grpo", steps: 10, prompts_per_step: 16, group_size: 8, learning_rate: 3e-4 },
      ],
      eval: { tasks: 50 },
    };
  }
});

/** Returns a conversation of the agent with a model that writes the digits backwards into the reasoning of its first message. */
async function demonstration(tasks: Tasks, index: number): Promise<object> {
  const { order } = (await tasks.get("train", index)).public;
  let row: object = {};
  const send: typeof fetch = async (_, init) => {
    const { messages, tools } = JSON.parse(String(init?.body)) as Body;
    const call = {
      id: "0",
      type: "function",
      function: { name: "price", arguments: JSON.stringify({ id: order }) },
    };
    const message =
      messages.length === 1
        ? { role: "assistant", content: null, reasoning_content: reversed(order), tool_calls: [call] }
        : { role: "assistant", content: `${priceOf(order)} ${reversed(order)}` };
    row = { messages: [...messages, message], tools };
    return Response.json({ choices: [{ index: 0, finish_reason: "stop", message }] });
  };
  await answer(createMrlm({ baseURL: "http://other.invalid/v1", fetch: send })("other"), order);
  return row;
}

/** Returns the share of the held-out tasks that the agent solves with a served policy. */
async function accuracy(tasks: Tasks, baseURL: string, send: typeof fetch): Promise<number> {
  let solved = 0;
  for (let i = 0; i < 50; i++) {
    const { public: shown, private: hidden } = await tasks.get("eval", i);
    const text = await answer(createMrlm({ baseURL, fetch: send })("policy"), shown.order).catch(String);
    solved += Number(text === hidden.wanted);
  }
  return solved / 50;
}

/** Sends histories as most SDKs do: without the reasoning of the assistant. */
const withoutReasoning: typeof fetch = (input, init) => {
  const { messages, ...body } = JSON.parse(String(init?.body)) as { messages: object[] };
  const bare = messages.map((message) => ({ ...message, reasoning_content: undefined }));
  return fetch(input, { ...init, body: JSON.stringify({ ...body, messages: bare }) });
};
