import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { createModelClient, modelClientOptions } from "@mrlm/model-client";
import OpenAI, { type APIError } from "openai";
import { z } from "zod";
import { served, type Served, testRenderer, writing } from "./support/served.ts";

const run = promisify(execFile);
const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>';
const messages = [{ role: "user" as const, content: "Hello" }];
const tools = [
  {
    type: "function" as const,
    function: {
      name: "weather",
      description: "Weather",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  },
];

let server: Served;

beforeEach(async () => {
  server = await served({
    tokens: Tokens.of("secret"),
    policies: [writing("writer", "Good day, and good bye."), writing("caller", `I look.\n${CALL}`)],
  });
});
afterEach(() => server.close());

describe("the official package for JavaScript", () => {
  const client = (): OpenAI => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "secret", maxRetries: 0 });

  test("chats, streams, stops and limits", async () => {
    const { chat, models } = client();
    expect((await models.list()).data.map(({ id }) => id)).toEqual(["writer", "caller"]);
    expect((await models.retrieve("writer")).id).toBe("writer");
    const one = await chat.completions.create({
      model: "writer",
      messages,
      temperature: 0.5,
      top_p: 0.9,
      seed: 4,
      stop: ["!"],
      logprobs: true,
      n: 2,
    });
    expect(one.choices.map(({ message }) => message.content)).toEqual(Array(2).fill("Good day, and good bye."));
    expect(one.choices[0]?.logprobs?.content?.[0]).toMatchObject({ token: "G", logprob: 0, bytes: [71] });
    expect(one.usage?.total_tokens).toBe((one.usage?.prompt_tokens ?? 0) + (one.usage?.completion_tokens ?? 0));
    const cut = await chat.completions.create({ model: "writer", messages, stop: " and", max_completion_tokens: 100 });
    expect(cut.choices[0]).toMatchObject({ message: { content: "Good day," }, finish_reason: "stop" });
    const short = await chat.completions.create({ model: "writer", messages, max_tokens: 4 });
    expect(short.choices[0]).toMatchObject({ message: { content: "Good" }, finish_reason: "length" });
    const stream = await chat.completions.create({
      model: "writer",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? "";
      tokens += usage?.completion_tokens ?? 0;
    }
    expect([text, tokens]).toEqual(["Good day, and good bye.", 24]);
  });

  test("gets calls of tools, and sends their results", async () => {
    const { chat } = client();
    const final = await chat.completions.stream({ model: "caller", messages, tools }).finalChatCompletion();
    const [choice] = final.choices;
    expect(choice).toMatchObject({ finish_reason: "tool_calls", message: { content: "I look." } });
    const [call] = choice?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } });
    const same = await chat.completions.create({ model: "caller", messages, tools, tool_choice: "auto" });
    expect(same.choices[0]?.message.tool_calls).toEqual([call]);
    const none = await chat.completions.create({ model: "caller", messages, tools, tool_choice: "none" });
    expect(none.choices[0]?.message.tool_calls).toBeUndefined();
    const answered = await chat.completions.create({
      model: "writer",
      tools,
      messages: [
        ...messages,
        { role: "assistant", content: "I look.", tool_calls: [call as never] },
        { role: "tool", tool_call_id: call?.id ?? "", content: "20 degrees" },
      ],
    });
    expect(answered.choices[0]?.message.content).toBe("Good day, and good bye.");
  });

  test("completes texts and token ids", async () => {
    const { completions } = client();
    const prompt = [...testRenderer().tokenizer.encode("Hi")];
    const one = await completions.create({
      model: "writer",
      prompt,
      max_tokens: 99,
      logprobs: 0,
      echo: false,
      stop: "bye",
    });
    expect(one.choices[0]).toMatchObject({ text: "Good day, and good ", finish_reason: "stop" });
    expect(one.choices[0]?.logprobs?.token_logprobs).toHaveLength(19);
    let text = "";
    for await (const { choices } of await completions.create({
      model: "writer",
      prompt: "Hi",
      max_tokens: 99,
      stream: true,
    }))
      text += choices[0]?.text ?? "";
    expect(text).toBe("Good day, and good bye.");
  });

  test("raises the errors of the server", async () => {
    const { chat } = client();
    const failed = async (change: object): Promise<APIError> =>
      chat.completions.create({ model: "writer", messages, ...change }).then(
        () => {
          throw new Error("It did not fail.");
        },
        (error: APIError) => error,
      );
    expect(await failed({ model: "other" })).toMatchObject({ status: 404, code: "model_not_found" });
    expect(await failed({ frequency_penalty: 1 })).toMatchObject({
      status: 400,
      code: "unsupported_parameter",
      param: "frequency_penalty",
    });
    const long = [{ role: "user" as const, content: "x".repeat(10_000) }];
    expect(await failed({ messages: long })).toMatchObject({
      status: 400,
      code: "context_length_exceeded",
      type: "invalid_request_error",
    });
    const anonymous = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "wrong", maxRetries: 0 });
    await expect(anonymous.models.list()).rejects.toMatchObject({ status: 401, type: "authentication_error" });
  });
});

test("curl chats and streams", async () => {
  const body = JSON.stringify({ model: "writer", messages, stream: true });
  const curl = async (...more: string[]): Promise<string> =>
    (await run("curl", ["-sS", "-H", "authorization: Bearer secret", ...more])).stdout;
  expect(JSON.parse(await curl(`${server.url}/v1/models`)).data).toHaveLength(2);
  const plain = await curl(`${server.url}/v1/chat/completions`, "-d", JSON.stringify({ model: "writer", messages }));
  expect(JSON.parse(plain).choices[0].message.content).toBe("Good day, and good bye.");
  const lines = (await curl("-N", `${server.url}/v1/chat/completions`, "-d", body)).trim().split("\n\n");
  expect(lines.at(-1)).toBe("data: [DONE]");
  const parts = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "");
  expect(parts.join("")).toBe("Good day, and good bye.");
});

/** Returns an interpreter with the package openai: MRLM_OPENAI_PYTHON, or that of the environment which `npm run bench -- policy` makes. */
function pythonWithClient(): string | undefined {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "mrlm", "bench");
  const made = (existsSync(cache) ? readdirSync(cache) : [])
    .filter((name) => name.startsWith("policy-") && existsSync(join(cache, name, ".complete")))
    .map((name) => join(cache, name, "bin", "python"));
  return process.env["MRLM_OPENAI_PYTHON"] ?? made[0];
}

const python = pythonWithClient();

// Skipped where no Python has the package: npm test installs none.
(python === undefined ? test.skip : test)(
  "the official package for Python chats, streams, calls tools and completes",
  async () => {
    const script = join(import.meta.dirname, "support/openai_client.py");
    const { stdout } = await run(python as string, [script, `${server.url}/v1`, "secret"]);
    expect(JSON.parse(stdout)).toEqual({
      models: ["writer", "caller"],
      contents: ["Good day, and good bye.", "Good day, and good bye."],
      first_logprob: 0,
      cut: ["Good day,", "stop"],
      limited: ["Good", "length"],
      streamed: ["Good day, and good bye.", 24],
      call: ["tool_calls", "weather", '{"city":"Rome"}'],
      without_calls: null,
      completed: ["Good day, and good ", 19],
      token_ids: [...testRenderer().tokenizer.encode("Good day, and good bye."), 1],
      unsupported: [400, "unsupported_parameter", "frequency_penalty"],
      too_long: [400, "context_length_exceeded"],
      unauthorized: 401,
    });
  },
);

test("N10: a judge's client reads a form from this server by its defaults: the prompt states it", async () => {
  const judge = await served({ policies: [writing("judge", '{"score": 7}')] });
  const options = modelClientOptions.parse({ base_url: `${judge.url}/v1`, model: "judge" });
  const client = createModelClient(options);
  const form = { name: "verdict", schema: z.strictObject({ score: z.int() }) };
  const asked = {
    messages: [{ role: "user" as const, parts: [{ type: "text" as const, text: "Judge." }] }],
    maxTokens: 64,
  };
  for (let call = 0; call < 2; call++)
    expect((await client.completeJson(asked, form, { signal: new AbortController().signal })).value).toEqual({
      score: 7,
    });
  expect(client.stats()).toMatchObject({ requests: 2, failures: {} });
  await client.close();
  await judge.close();
});
