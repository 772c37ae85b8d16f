import { afterEach, describe, expect, test } from "@jest/globals";
import { events, served, type Served, writing } from "./support/served.ts";

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "Hello" }];
const weather = {
  type: "function",
  function: {
    name: "weather",
    description: "Weather",
    parameters: { type: "object", properties: { city: { type: "string" } } },
  },
};

let server: Served;

afterEach(() => server.close());

describe("a chat response", () => {
  test("has text, usage, token ids with one log-probability each, and the weight version", async () => {
    server = await served({ policies: [writing("writer", "Good day.")] });
    const { renderer } = server;
    const request = { model: "writer", messages, logprobs: true, return_token_ids: true };
    const { status, body } = await server.post(CHAT, request);
    const prompt = [...renderer.render([{ role: "user", parts: [{ type: "text", text: "Hello" }] }]).tokens];
    const ids = [...renderer.tokenizer.encode("Good day."), 1];
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^chatcmpl-[0-9a-f]{32}$/),
      object: "chat.completion",
      created: expect.any(Number),
      model: "writer",
      system_fingerprint: "weights-3",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Good day.", refusal: null },
          logprobs: {
            content: ids.map((id, i) => logprob(renderer.decode(Int32Array.of(id)), i === 0 ? 0 : -i / 8)),
            refusal: null,
          },
          finish_reason: "stop",
          token_ids: ids,
          weight_versions: [{ version: 3, start: 0, end: 10 }],
        },
      ],
      usage: { prompt_tokens: prompt.length, completion_tokens: 10, total_tokens: prompt.length + 10 },
      prompt_token_ids: prompt,
    });
    const streamed = await events(server.url, CHAT, { ...request, stream_options: { include_usage: true } });
    expect(streamed.at(-1)).toMatchObject({ choices: [], usage: body.usage });
    expect(streamed[0]).toMatchObject({ prompt_token_ids: prompt, choices: [{ delta: { role: "assistant" } }] });
    const choices = streamed.flatMap(({ choices: [choice] }) => (choice === undefined ? [] : [choice]));
    expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe("Good day.");
    expect(choices.flatMap(({ token_ids: some = [] }) => some)).toEqual(ids);
    expect(choices.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(body.choices[0].logprobs.content);
    expect(choices.at(-1)).toMatchObject({ finish_reason: "stop", delta: {}, weight_versions: [{ version: 3 }] });
    expect(choices.slice(0, -1).every(({ finish_reason: reason }) => reason === null)).toBe(true);
  });

  test("has reasoning and calls of tools apart from the text, streamed and not", async () => {
    const call = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>';
    const text = `<think>\nShort thought. </think>\n\nI look.\n${call}\n${call} `;
    server = await served({ policies: [writing("caller", text)] });
    const request = { model: "caller", messages, tools: [weather] };
    const { body } = await server.post(CHAT, request);
    const [choice] = body.choices;
    expect(choice.finish_reason).toBe("tool_calls");
    expect(choice.message).toMatchObject({
      content: "I look.",
      reasoning_content: "Short thought.",
      tool_calls: [
        { type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
        { type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
      ],
    });
    expect(new Set(choice.message.tool_calls.map(({ id }: { id: string }) => id)).size).toBe(2);
    const streamed = await events(server.url, CHAT, request);
    const deltas = streamed.map(({ choices: [{ delta }] }) => delta);
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe(choice.message.content);
    expect(deltas.map(({ reasoning_content: part }) => part ?? "").join("")).toBe("Short thought.");
    const calls = choice.message.tool_calls.map((each: object, index: number) => ({ index, ...each }));
    expect(deltas.flatMap(({ tool_calls: some }) => some ?? [])).toEqual(calls);
    expect(streamed.at(-1).choices[0].finish_reason).toBe("tool_calls");

    const none = await server.post(CHAT, { ...request, tool_choice: "none" });
    expect(none.body.choices[0]).toMatchObject({ finish_reason: "stop" });
    expect(none.body.choices[0].message.tool_calls).toBeUndefined();
    expect(none.body.choices[0].message.content).toContain('"city": "Rome"');
    const followUp = [
      ...messages,
      { role: "assistant", content: null, tool_calls: choice.message.tool_calls.slice(0, 1) },
      { role: "tool", tool_call_id: choice.message.tool_calls[0].id, content: "20 degrees" },
    ];
    expect((await server.post(CHAT, { ...request, messages: followUp })).status).toBe(200);
  });

  test("is the same for the same seed, also as one of several", async () => {
    server = await served();
    const request = { model: "bigram", messages, max_tokens: 20, seed: 7, ignore_eos: true };
    const texts = async (more: object): Promise<string[]> => {
      const { body } = await server.post(CHAT, { ...request, ...more });
      return body.choices.map(({ message }: { message: { content: string } }) => message.content);
    };
    const [first] = await texts({});
    const three = await texts({ n: 3 });
    expect(three[0]).toBe(first);
    expect(new Set(three).size).toBe(3);
    expect(await texts({ seed: 8 })).not.toEqual([first]);
    expect(await texts({ temperature: 0 })).toEqual(await texts({ temperature: 0, seed: 9 }));
    expect(await texts({ top_k: 1 })).toEqual(await texts({ temperature: 0 }));
    expect(await texts({ top_p: 1e-6 })).toEqual(await texts({ temperature: 0 }));
  });
});

function logprob(token: string, value: number): object {
  return { token, logprob: value, bytes: [...new TextEncoder().encode(token)], top_logprobs: [] };
}
