import { once } from "node:events";
import { describe, expect, test } from "@jest/globals";
import { type JsonObject, MrlmError, tool as mrlmTool, toolError, toolset, type ToolsetEpisode } from "@mrlm/kit";
import { toolContract } from "@mrlm/testing";
import { dynamicTool, generateText, jsonSchema, stepCountIs, tool, type ToolSet } from "ai";
import { z } from "zod";
import { createMrlm, fromAiTools, toAiTools } from "../src/index.ts";
import { answer, callOf, scriptedModel } from "./support/scripted-model.ts";

const { signal } = new AbortController();
const EPISODE: ToolsetEpisode = {
  seed: 1,
  signal,
  random: () => {
    throw new Error("No tool here draws.");
  },
};
/** Runs until the signal is aborted. */
async function wait(abortSignal: AbortSignal): Promise<never> {
  if (!abortSignal.aborted) await once(abortSignal, "abort");
  throw abortSignal.reason;
}

const search = tool({
  description: "Searches.",
  inputSchema: z.object({ query: z.string().min(2), limit: z.number().default(3) }),
  execute: ({ query, limit }) => `${limit} results for ${query}`,
});
const look = dynamicTool({
  description: "Looks.",
  inputSchema: jsonSchema({ type: "object", properties: { at: { type: "string" } } }),
  execute: async (input, { abortSignal }) => {
    const { at } = input as { at?: string };
    return at === "nothing" ? await wait(abortSignal as AbortSignal) : { at: at ?? null };
  },
});
const fail = tool({
  inputSchema: z.object({ reason: z.string() }),
  execute: ({ reason }): string => {
    throw reason === "broken" ? new MrlmError("TOOL_FAILED", "The disk is gone.") : new Error(reason);
  },
});

/** Calls a tool of a ToolSet as an environment does. */
async function call(tools: ToolSet, args: JsonObject = {}, options: { signal: AbortSignal } = { signal }) {
  const [converted] = Object.values(await fromAiTools(tools));
  if (converted === undefined) throw new Error("There is no tool.");
  return await converted.call(args, options);
}
const text = (value: string, isError = false) => ({ content: [{ type: "text", text: value }], isError });

describe("tools of the AI SDK in an environment", () => {
  toolContract({
    name: "fromAiTools",
    make: async () => toolset(await fromAiTools({ search, look })),
    calls: [
      { tool: "search", args: { query: "cats" } },
      { tool: "look", args: { at: "x" } },
    ],
    slow: { tool: "look", args: { at: "nothing" } },
  });

  test("they have the JSON Schema of their input", async () => {
    const tools = await fromAiTools({ search, look });
    expect(tools["search"]).toMatchObject({
      description: "Searches.",
      parameters: {
        type: "object",
        properties: { query: { type: "string", minLength: 2 }, limit: { type: "number", default: 3 } },
        required: ["query"],
        additionalProperties: false,
      },
    });
    expect(tools["search"]?.parameters).not.toHaveProperty("$schema");
    expect(tools["look"]?.parameters).toEqual({ type: "object", properties: { at: { type: "string" } } });
  });

  test("the output of the schema reaches the tool, and arguments that do not fit are an error result", async () => {
    expect(await call({ search }, { query: "cats" })).toEqual(text("3 results for cats"));
    const { content, isError } = await call({ search }, { query: "c" });
    expect(isError).toBe(true);
    expect(content).toMatchObject([{ text: expect.stringMatching(/^Invalid arguments of search: /) }]);
  });

  test("what execute throws is an error result, apart from an MrlmError and an abort", async () => {
    expect(await call({ fail }, { reason: "There is no such page." })).toEqual(
      text("Error: There is no such page.", true),
    );
    await expect(call({ fail }, { reason: "broken" })).rejects.toMatchObject({ code: "TOOL_FAILED" });
    const controller = new AbortController();
    const waiting = call({ look }, { at: "nothing" }, controller);
    controller.abort(new Error("The episode has ended."));
    await expect(waiting).rejects.toThrow("The episode has ended.");
  });

  test("outputs are what a model of the AI SDK reads", async () => {
    const outputs = [
      [{ type: "text", value: "a" }, text("a")],
      [{ type: "json", value: { a: [1] } }, text('{"a":[1]}')],
      [{ type: "error-text", value: "a" }, text("a", true)],
      [{ type: "error-json", value: { a: 1 } }, text('{"a":1}', true)],
      [{ type: "execution-denied" }, text("Tool call execution denied.", true)],
      [{ type: "execution-denied", reason: "No." }, text("No.", true)],
      [
        {
          type: "content",
          value: [
            { type: "text", text: "a" },
            { type: "file", mediaType: "image/png", data: { type: "data", data: "AQI=" } },
            { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("http://a.invalid/b.png") } },
            { type: "file", mediaType: "audio/wav", data: { type: "data", data: "AQI=" } },
          ],
        },
        {
          content: [
            { type: "text", text: "a" },
            { type: "image", mediaType: "image/png", source: { data: Uint8Array.of(1, 2) } },
            { type: "image", mediaType: "image/png", source: { url: "http://a.invalid/b.png" } },
            { type: "text", text: '{"type":"file","mediaType":"audio/wav","data":{"type":"data","data":"AQI="}}' },
          ],
          isError: false,
        },
      ],
    ] as const;
    for (const [output, result] of outputs) {
      const given = tool({ inputSchema: z.object({}), execute: () => 0, toModelOutput: () => output as never });
      const { content, isError } = await call({ given });
      const bytes = content.map((part) =>
        part.type === "image" && "data" in part.source
          ? { ...part, source: { data: Uint8Array.from(part.source.data) } }
          : part,
      );
      expect({ content: bytes, isError }).toEqual(result);
    }
    expect(await call({ none: tool({ inputSchema: z.object({}), execute: () => undefined }) })).toEqual(text("null"));
    const date = tool({ inputSchema: z.object({}), execute: () => ({ content: [], isError: true }) });
    expect(await call({ date })).toEqual(text('{"content":[],"isError":true}'));
  });

  test("a generator reports progress, and its last output is the result", async () => {
    const steps = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield "one";
        yield "two";
      },
    });
    let progress = 0;
    const options = { signal, progressed: () => void progress++ };
    expect(await call({ steps }, {}, options)).toEqual(text("two"));
    expect(progress).toBe(2);
  });

  test.each([
    ["has no execute function", tool({ inputSchema: z.object({}), outputSchema: z.string() })],
    ["needs a context", tool({ description: () => "x", inputSchema: z.object({}), execute: () => 0 })],
    [
      "needs a context",
      tool({ contextSchema: z.object({ user: z.string() }), inputSchema: z.object({}), execute: () => 0 }),
    ],
  ])("a tool that %s is refused", async (fact, given) => {
    const refused = fromAiTools({ given });
    await expect(refused).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
    await expect(refused).rejects.toThrow(`The tool "given" of the AI SDK ${fact}.`);
  });
});

describe("tools of mrlm in the AI SDK", () => {
  const pictured = { type: "image", mediaType: "image/png", source: { data: Uint8Array.of(1, 2) } } as const;
  const opened = toolset({
    add: mrlmTool({
      description: "Adds.",
      parameters: z.strictObject({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => (a === b ? toolError("They are equal.") : a + b),
    }),
    draw: mrlmTool({ description: "Draws.", execute: () => ({ content: [pictured], isError: false }) }),
    wait: mrlmTool({ description: "Waits.", execute: (_, options) => wait(options.signal) }),
  }).open(EPISODE);

  test("a model calls them, and reads results and errors", async () => {
    const program = scriptedModel(
      answer(callOf("c1", "add", { a: 1, b: 2 })),
      answer(callOf("c2", "add", { a: 2, b: 2 })),
      answer(callOf("c3", "draw", {})),
      answer({ content: "Done." }),
    );
    const { steps } = await generateText({
      model: createMrlm(program)(program.name),
      prompt: "Go.",
      tools: toAiTools(await opened),
      stopWhen: stepCountIs(4),
    });
    expect(program.requests[0]?.body["tools"]).toMatchObject([
      {
        function: {
          name: "add",
          description: "Adds.",
          parameters: { type: "object", required: ["a", "b"], additionalProperties: false },
        },
      },
      { function: { name: "draw" } },
      { function: { name: "wait" } },
    ]);
    expect(steps[0]?.toolResults[0]?.output).toBe("3");
    const messages = program.requests[3]?.body["messages"] as JsonObject[];
    expect(messages.filter(({ role }) => role === "tool").map(({ content }) => content)).toEqual([
      "3",
      "They are equal.",
      [{ type: "image_url", image_url: { url: "data:image/png;base64,AQI=" } }],
    ]);
  });

  test("an abort reaches the tool", async () => {
    const tools = toAiTools(await opened);
    const controller = new AbortController();
    const options = { toolCallId: "c1", messages: [], context: {}, abortSignal: controller.signal };
    const waiting = tools["wait"]?.execute?.({}, options);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  test("there and back, definitions, results and errors are the same", async () => {
    const { tools } = await opened;
    const back = await fromAiTools(toAiTools({ tools }));
    for (const each of tools) {
      const { description, parameters } = back[each.name] as (typeof tools)[number];
      expect({ description, parameters }).toEqual({ description: each.description, parameters: each.parameters });
    }
    const add = tools.find(({ name }) => name === "add") as (typeof tools)[number];
    const calls: JsonObject[] = [{ a: 1, b: 2 }, { a: 2, b: 2 }, { a: "x" }];
    for (const args of calls)
      expect(await back["add"]?.call(args, { signal })).toEqual(await add.call(args, { signal }));
  });
});
