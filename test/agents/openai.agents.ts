import { describe, expect, test } from "@jest/globals";
import type { AgentModel } from "@mrlm/kit/agent";
import OpenAI, { APIError } from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { assistant, call, playProgram } from "./support/play-program.ts";

const TOOLS = [
  {
    type: "function" as const,
    function: { name: "search", parameters: { type: "object", properties: { q: { type: "string" } } } },
  },
];
const ANSWERS = [
  assistant({ type: "thinking", text: "Hm." }, "I look.", call("q7Xk2PzA1", { q: "a" }), call("B", { q: "b" })),
  assistant("Found it."),
];
type Messages = OpenAI.Chat.Completions.ChatCompletionMessageParam[];

/** Loop of an agent as users write it. */
async function loop(client: OpenAI, model: string, stream: boolean): Promise<string> {
  const messages: Messages = [
    { role: "developer", content: "Help." },
    { role: "user", content: "Go" },
  ];
  for (;;) {
    const completion = stream
      ? await client.chat.completions.stream({ model, messages, tools: TOOLS }).finalChatCompletion()
      : await client.chat.completions.create({ model, messages, tools: TOOLS });
    const message = completion.choices[0]?.message as OpenAI.Chat.Completions.ChatCompletionMessage;
    messages.push(message);
    if (message.tool_calls === undefined) return message.content ?? "";
    for (const each of message.tool_calls.toReversed())
      messages.push({ role: "tool", tool_call_id: each.id, content: `found ${each.id}` });
  }
}

const transports = {
  "its fetch": async (model: AgentModel) => ({ baseURL: model.baseURL, fetch: model.fetch }),
  "a socket": async (model: AgentModel) => ({ baseURL: (await model.listen()).baseURL, fetch }),
};

describe.each(Object.entries(transports))("the package openai over %s", (_, transport) => {
  const clientOf = async (model: AgentModel, change: (send: typeof fetch) => typeof fetch = (send) => send) => {
    const { baseURL, fetch: send } = await transport(model);
    return new OpenAI({ baseURL, apiKey: model.apiKey, fetch: change(send), maxRetries: 2 });
  };

  test("a loop with tools has the same observations whole, streamed, and with lost responses", async () => {
    const plays = [false, true].flatMap((stream) =>
      [false, true].map((isLossy) =>
        playProgram(async ({ model }) => {
          let sent = 0;
          // Each first response is lost: the package retries with its header.
          const lossy =
            (send: typeof fetch): typeof fetch =>
            async (input, init) => {
              const response = await send(input, init);
              if (!isLossy || sent++ % 2 === 1) return response;
              await response.arrayBuffer();
              throw new TypeError("fetch failed");
            };
          return loop(await clientOf(model, lossy), model.name, stream);
        }, ANSWERS),
      ),
    );
    const played = await Promise.all(plays);
    const [first] = played;
    expect(first?.observations.map(({ messages }) => messages.map(({ role }) => role))).toEqual([
      ["system", "user"],
      ["tool"],
    ]);
    expect(first?.observations[1]?.messages[0]?.parts).toMatchObject([{ id: "q7Xk2PzA1" }, { id: "B" }]);
    const shown = played.map(({ observations }) => observations.map(({ info: __, ...rest }) => rest));
    expect(played.map(({ result }) => result)).toEqual(Array(4).fill("Found it."));
    for (const each of shown) expect(each).toEqual(shown[0]);
    expect(played.map(({ result }) => result)).toEqual(Array(4).fill("Found it."));
    expect(played.map(({ counts }) => [counts["segments"], counts["calls"], counts["retried"]])).toEqual([
      [1, 2, 0],
      [1, 2, 2],
      [1, 2, 0],
      [1, 2, 2],
    ]);
  });

  test("runTools calls functions until the answer", async () => {
    const { result, counts } = await playProgram(async ({ model }) => {
      const client = await clientOf(model);
      const runner = client.chat.completions.runTools({
        model: model.name,
        messages: [{ role: "user", content: "Go" }],
        tools: [
          {
            type: "function",
            function: {
              name: "search",
              description: "Search.",
              parameters: { type: "object", properties: { q: { type: "string" } } },
              parse: JSON.parse,
              function: ({ q }: { q: string }) => `found ${q}`,
            },
          },
        ],
      });
      return await runner.finalContent();
    }, ANSWERS);
    // Unlike a loop that sends back the message, it returns no reasoning.
    expect([result, counts["segments"]]).toEqual(["Found it.", 2]);
  });

  test("an answer of a schema is parsed; one of another form is the program's error", async () => {
    const run = async ({ model }: { model: AgentModel }) => {
      const client = await clientOf(model);
      const { choices } = await client.chat.completions.parse({
        model: model.name,
        messages: [{ role: "user", content: "Go" }],
        response_format: zodResponseFormat(z.object({ a: z.number() }), "answer"),
      });
      return choices.map(({ message }) => message.parsed?.a ?? null);
    };
    const right = await playProgram(run, [assistant('{"a":1}')]);
    expect([right.result, right.counts["schema_failed"]]).toEqual([[1], 0]);
    const wrong = await playProgram(run, [assistant("one")]);
    expect([wrong.result, wrong.counts["schema_failed"]]).toEqual([expect.stringContaining("JSON"), 1]);
  });

  test("errors have the classes of the package, and those of requests are not retried", async () => {
    const { result, counts } = await playProgram(
      async ({ model }) => {
        const client = await clientOf(model);
        const messages: Messages = [{ role: "user", content: "Go" }];
        const found: string[] = [];
        const expectError = async (work: Promise<unknown>): Promise<void> => {
          const error = await work.then(() => undefined).catch((thrown: unknown) => thrown);
          found.push(error instanceof APIError ? `${error.constructor.name} ${error.code}` : String(error));
        };
        await client.chat.completions.create({ model: model.name, messages });
        await expectError(client.chat.completions.create({ model: model.name, messages, n: 2 }));
        await expectError(client.embeddings.create({ model: model.name, input: "a" }));
        await expectError(
          client.withOptions({ apiKey: "other" }).chat.completions.create({ model: model.name, messages }),
        );
        await expectError(client.chat.completions.create({ model: model.name, messages }));
        return found;
      },
      [],
      { limits: { calls: 2 } },
    );
    expect(result).toBe("calls");
    // A key of no episode is refused at the socket, before the episode.
    expect(counts["refused"]).toBeGreaterThanOrEqual(3);
  });

  test("a stream that is aborted is read in part, and the next call continues", async () => {
    const { observations, counts } = await playProgram(
      async ({ model }) => {
        const client = await clientOf(model);
        const messages: Messages = [{ role: "user", content: "Go" }];
        const stream = await client.chat.completions.create({ model: model.name, messages, stream: true });
        let content = "";
        for await (const { choices } of stream) {
          content += choices[0]?.delta.content ?? "";
          break;
        }
        await client.chat.completions.create({
          model: model.name,
          messages: [...messages, { role: "assistant", content }, { role: "user", content: "More" }],
        });
      },
      [assistant("One."), assistant("Two.")],
    );
    expect(observations.map(({ messages }) => messages.length)).toEqual([1, 1]);
    expect(counts).toMatchObject({ segments: 1, wasted: [] });
  });
});
