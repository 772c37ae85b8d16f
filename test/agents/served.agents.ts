import { afterEach, describe, expect, test } from "@jest/globals";
import { clientPackages } from "./support/client-packages.ts";
import { scriptedServer, type ScriptedServer } from "./support/scripted-server.ts";

// Agents that train in an episode are served by the same clients.
const anthropic = await clientPackages(["@anthropic-ai/sdk@1.14.0"]);
const agents = await clientPackages(["@openai/agents@0.20.0", "openai@7.57.0", "zod@4.6.7"]);
const PARAMETERS = { type: "object", properties: { q: { type: "string" } } };
const CALL = '<tool_call>\n{"name": "search", "arguments": {"q": "a"}}\n</tool_call>';
const TEXT = `<think>\nHm.\n</think>\n\nI look.\n${CALL}`;

let server: ScriptedServer;
afterEach(() => server.close());

/** Serves a policy that calls a tool once and then answers, and one that writes JSON. */
async function serve(): Promise<void> {
  const policy = (prompt: string): string => (prompt.includes("found a") ? "Found it." : TEXT);
  server = await scriptedServer({ policy, json: () => '{"a":1}' });
}

describe("@anthropic-ai/sdk", () => {
  if ("reason" in anthropic) return test.skip(`not here: ${anthropic.reason}`, () => undefined);
  const clientOf = async (): Promise<{ readonly client: any; readonly APIError: any }> => {
    await serve();
    const { default: Anthropic, APIError } = await anthropic.load("@anthropic-ai/sdk");
    return { client: new Anthropic({ baseURL: server.url, apiKey: "secret", maxRetries: 0 }), APIError };
  };
  const body = {
    ...{ model: "policy", max_tokens: 200, system: "Help." },
    tools: [{ name: "search", description: "Search.", input_schema: PARAMETERS }],
  };

  test.each([false, true])("calls a tool, sends its result, and counts tokens (streamed: %s)", async (isStreamed) => {
    const { client } = await clientOf();
    const messages: unknown[] = [{ role: "user", content: "Go" }];
    const stops: string[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const asked = { ...body, messages: [...messages] };
      const message = isStreamed
        ? await client.messages.stream(asked).finalMessage()
        : await client.messages.create(asked);
      const { max_tokens: _, ...counted } = asked;
      const { input_tokens: count } = await client.messages.countTokens(counted);
      expect([message.usage.input_tokens, count]).toEqual(Array(2).fill(server.prompts[turn]?.length));
      stops.push(message.stop_reason);
      messages.push({ role: "assistant", content: message.content });
      if (turn === 0)
        messages.push({
          role: "user",
          content: [{ type: "tool_result", tool_use_id: message.content[2].id, content: "found a" }],
        });
    }
    expect(stops).toEqual(["tool_use", "end_turn"]);
    expect(messages).toMatchObject([
      { role: "user" },
      { content: [{ thinking: "Hm." }, { text: "I look." }, { name: "search", input: { q: "a" } }] },
      { role: "user" },
      { content: [{ type: "text", text: "Found it." }] },
    ]);
  });

  test("parses a schema, lists models, and raises the errors of the server", async () => {
    const { client, APIError } = await clientOf();
    const format = { type: "json_schema", schema: { type: "object", properties: { a: { type: "number" } } } };
    const messages = [{ role: "user", content: "Go" }];
    const parsed = await client.messages.create({ model: "json", max_tokens: 9, messages, output_config: { format } });
    expect(JSON.parse(parsed.content[0].text)).toEqual({ a: 1 });
    const models: string[] = [];
    for await (const { id } of client.models.list()) models.push(id);
    expect([models, (await client.models.retrieve("json")).display_name]).toEqual([["policy", "json"], "json"]);
    const failed = async (change: object, key = "secret"): Promise<unknown> => {
      const sent = client.withOptions({ apiKey: key }).messages.create({ ...body, messages, ...change });
      const error = await sent.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(APIError);
      return [error.status, error.error.error.type, error.error.error.code];
    };
    expect(await failed({ model: "other" })).toEqual([404, "not_found_error", "model_not_found"]);
    expect(await failed({ container: "c" })).toEqual([400, "invalid_request_error", "unsupported_parameter"]);
    expect(await failed({}, "wrong")).toEqual([401, "authentication_error", "UNAUTHENTICATED"]);
    const bearer = client.withOptions({ apiKey: null, authToken: "secret" });
    expect((await bearer.messages.create({ ...body, model: "json", messages })).content).toMatchObject([
      { type: "text", text: '{"a":1}' },
    ]);
  });
});

describe("@openai/agents", () => {
  if ("reason" in agents) return test.skip(`not here: ${agents.reason}`, () => undefined);

  test.each(["OpenAIResponsesModel", "OpenAIChatCompletionsModel"])("plays a loop with a tool by %s", async (kind) => {
    await serve();
    const { Agent, run, setTracingDisabled, tool, [kind]: Model } = await agents.load("@openai/agents");
    const { default: OpenAI } = await agents.load("openai");
    const { z } = await agents.load("zod");
    setTracingDisabled(true);
    const execute = async ({ q }: { readonly q: string }): Promise<string> => `found ${q}`;
    const tools = [tool({ name: "search", description: "Search.", parameters: z.object({ q: z.string() }), execute })];
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "secret", maxRetries: 0 });
    const agent = new Agent({ name: "Agent", instructions: "Help.", tools, model: new Model(client, "policy") });
    expect((await run(agent, "Go")).finalOutput).toBe("Found it.");
    const streamed = await run(agent, "Go", { stream: true });
    for await (const _ of streamed);
    await streamed.completed;
    expect(streamed.finalOutput).toBe("Found it.");
    // Whole and streamed answers lead to the same prompts.
    expect(server.prompts).toHaveLength(4);
    expect(server.prompts.slice(2)).toEqual(server.prompts.slice(0, 2));
  });
});
