import { describe, expect, test } from "@jest/globals";
import type { AgentModel } from "@mrlm/kit/agent";
import OpenAI from "openai";
import { clientPackages } from "./support/client-packages.ts";
import { assistant, call, playProgram } from "./support/play-program.ts";

const installed = await clientPackages(["@anthropic-ai/sdk@1.14.0"]);
const ANSWERS = [
  assistant({ type: "thinking", text: "Hm." }, "I look.", call("A", { q: "a" }), call("B", { q: "b" })),
  assistant("Found it."),
];
const PARAMETERS = { type: "object", properties: { q: { type: "string" } } };

if ("reason" in installed) test.skip(`not here: ${installed.reason}`, () => {});
else {
  const { default: Anthropic, APIError } = await installed.load("@anthropic-ai/sdk");

  /** Loop of an agent as users write it. */
  const loop = async (client: any, model: string, stream: boolean): Promise<string> => {
    const messages: unknown[] = [{ role: "user", content: "Go" }];
    for (;;) {
      const body = {
        ...{ model, messages, max_tokens: 100, system: "Help." },
        tools: [{ name: "search", description: "", input_schema: PARAMETERS }],
      };
      const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
      messages.push({ role: "assistant", content: message.content });
      if (message.stop_reason !== "tool_use") return message.content.map((each: any) => each.text ?? "").join("");
      const calls = message.content.filter(({ type }: any) => type === "tool_use");
      messages.push({
        role: "user",
        content: calls.map(({ id }: any) => ({ type: "tool_result", tool_use_id: id, content: `found ${id}` })),
      });
    }
  };

  const transports = {
    "its fetch": async (model: AgentModel) => ({ baseURL: new URL(model.baseURL).origin, fetch: model.fetch }),
    "a socket": async (model: AgentModel) => ({
      baseURL: (await model.listen()).env["ANTHROPIC_BASE_URL"],
      fetch,
    }),
  };

  describe.each(Object.entries(transports))("the package @anthropic-ai/sdk over %s", (_, transport) => {
    const clientOf = async (model: AgentModel) =>
      new Anthropic({ ...(await transport(model)), apiKey: model.apiKey, maxRetries: 2 });

    test("a loop with tools has the observations of the same loop in chat completions", async () => {
      const plays = [false, true].map((stream) =>
        playProgram(async ({ model }) => loop(await clientOf(model), model.name, stream), ANSWERS),
      );
      const chat = playProgram(async ({ model }) => {
        const client = new OpenAI({ baseURL: model.baseURL, apiKey: model.apiKey, fetch: model.fetch });
        const tools = [{ type: "function" as const, function: { name: "search", parameters: PARAMETERS } }];
        const messages: OpenAI.Chat.Completions.ChatCompletionMessageParam[] = [
          { role: "system", content: "Help." },
          { role: "user", content: "Go" },
        ];
        for (;;) {
          const body = { model: model.name, messages, tools, max_tokens: 100 };
          const { message } = (await client.chat.completions.create(body))
            .choices[0] as OpenAI.Chat.ChatCompletion.Choice;
          messages.push(message);
          if (message.tool_calls === undefined) return message.content ?? "";
          for (const { id } of message.tool_calls)
            messages.push({ role: "tool", tool_call_id: id, content: `found ${id}` });
        }
      }, ANSWERS);
      const played = await Promise.all([...plays, chat]);
      expect(played.map(({ result }) => result)).toEqual(Array(3).fill("Found it."));
      expect(played.map(({ counts }) => [counts["calls"], counts["segments"]])).toEqual(Array(3).fill([2, 1]));
      const [first, ...others] = played.map(({ observations }) => observations.map(({ info: __, ...rest }) => rest));
      for (const each of others) expect(each).toEqual(first);
      const wires = ["anthropic-messages", "anthropic-messages", "openai-chat"];
      expect(played.map(({ observations }) => observations[0]?.info)).toMatchObject(
        wires.map((wire) => ({ call: { wire } })),
      );
    });

    test("errors have the classes of the package, and its list of models is read", async () => {
      const { result } = await playProgram(
        async ({ model }) => {
          const client = await clientOf(model);
          const codes: string[] = [];
          const refused = async (body: object, key = model.apiKey): Promise<void> => {
            const messages = [{ role: "user", content: "Go" }];
            const sent = client
              .withOptions({ apiKey: key })
              .messages.create({ model: model.name, max_tokens: 9, messages, ...body });
            const error = await sent.catch((thrown: unknown) => thrown);
            codes.push(error instanceof APIError ? `${error.status} ${error.error.error.code}` : String(error));
          };
          await refused({ container: "c" });
          await refused({}, "other");
          const models: string[] = [];
          for await (const { id } of client.models.list()) models.push(id);
          const answer = await client.messages.create({
            ...{ model: model.name, max_tokens: 9, stop_sequences: ["END"] },
            messages: [{ role: "user", content: "Go" }],
          });
          return [...codes, ...models, answer.stop_reason, answer.stop_sequence, answer.content[0].text];
        },
        [assistant("One END two")],
      );
      expect(result).toEqual([
        "400 unsupported_parameter",
        "401 invalid_api_key",
        "agent",
        "stop_sequence",
        "END",
        "One ",
      ]);
    });
  });
}
