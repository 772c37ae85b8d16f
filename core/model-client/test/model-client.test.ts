import { afterEach, describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type ChatServer, type ChatServerReply, type ChatServerRequest, startChatServer } from "@mrlm/testing";
import { createModelClient, type ModelClient, modelClientOptions } from "@mrlm/model-client";

const KEY = "sk-test-0123456789/abcdef";
const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const resource of opened.splice(0)) await resource.close();
});

async function serve(
  reply: (request: ChatServerRequest, index: number) => ChatServerReply | Promise<ChatServerReply>,
): Promise<ChatServer> {
  const server = await startChatServer(reply);
  opened.push(server);
  return server;
}

function connect(server: ChatServer, options: object = {}): ModelClient {
  const parsed = modelClientOptions.parse({ base_url: server.baseUrl, model: "judge", ...options });
  const client = createModelClient(parsed, { env: { TEST_KEY: KEY } });
  opened.push(client);
  return client;
}

const request = { messages: [textMessage("user", "Hello")] };
const never = new AbortController().signal;

describe("complete", () => {
  test("returns the message, its tokens and times", async () => {
    const server = await serve(() => "Good day.");
    const client = connect(server, { api_key_env: "TEST_KEY", prices: { judge: { input: 2, output: 10 } } });
    const completion = await client.complete({ ...request, maxTokens: 20, temperature: 0 }, { signal: never });
    expect(completion).toMatchObject({
      text: "Good day.",
      finishReason: "stop",
      model: "judge",
      usage: { inputTokens: 10, outputTokens: 5, isEstimated: false, cost: (10 * 2 + 5 * 10) / 1e6 },
      timing: { attempts: 1, isReplayed: false },
    });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: "judge", max_tokens: 20, temperature: 0, messages: [{ role: "user", content: "Hello" }] },
    });
    expect(client.stats()).toMatchObject({ answers: 1, requests: 1, inputTokens: 10, outputTokens: 5 });
  });
});
