import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { isRecordedRow, parseRecordedRow, type RecordedRow } from "@mrlm/kit/learning";
import { MrlmError } from "@mrlm/spec";
import fc from "fast-check";
import { tracedRows } from "../src/collection/traced-rows.ts";

/** Export of `ai` 7 with `@ai-sdk/otel` 1 for an agent that calls one tool. */
const AI_SDK = join(import.meta.dirname, "fixtures/ai-sdk.otlp.jsonl");

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "mrlm-traces-"))));
afterAll(() => rmSync(folder, { recursive: true }));

const text = (content: string) => [{ type: "text", content }];
const message = (role: string, content: string) => ({ role, parts: text(content) });

interface Call {
  readonly id?: string;
  readonly parent?: string;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly scores?: Readonly<Record<string, number>>;
  readonly code?: number;
  readonly operation?: string;
}

let next = 0;
function span({ id = `${next++}`, parent, input, output, scores = {}, code = 0, operation = "chat" }: Call) {
  const attribute = (key: string, value: unknown) => ({ key, value: { stringValue: value } });
  const events = Object.entries(scores).map(([name, value]) => ({
    name: "gen_ai.evaluation.result",
    attributes: [
      attribute("gen_ai.evaluation.name", name),
      { key: "gen_ai.evaluation.score.value", value: { doubleValue: value } },
    ],
  }));
  return {
    ...{ traceId: "t", spanId: id, ...(parent && { parentSpanId: parent }), status: { code }, events },
    attributes: [
      attribute("gen_ai.operation.name", operation),
      attribute("gen_ai.request.model", "large"),
      ...(input === undefined ? [] : [attribute("gen_ai.input.messages", JSON.stringify(input))]),
      ...(output === undefined ? [] : [attribute("gen_ai.output.messages", JSON.stringify(output))]),
    ],
  };
}

function rowsOf(...calls: readonly Call[]) {
  const path = join(folder, "traces.jsonl");
  const line = (spans: readonly object[]) => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] });
  // One export a line, in an order in which spans end.
  writeFileSync(path, calls.map((call) => `${line([span(call)])}\n`).join(""));
  return tracedRows(path);
}

const asked = message("user", "How many?");
const call = (answer: string, more: Call = {}): Call => ({
  input: [asked],
  output: [message("assistant", answer)],
  ...more,
});

test("an agent of the AI SDK is one conversation: instructions, tools, calls, results, reasoning", async () => {
  const { rows, ...counts } = await tracedRows(AI_SDK);
  expect(counts).toEqual({ isScored: false, calls: 2, conversations: 1, unscored: 0, leftOut: {} });
  expect(rows).toEqual([
    {
      messages: [
        { role: "system", content: "You answer for a shop." },
        { role: "user", content: "How many A1 are left?" },
        {
          ...{ role: "assistant", content: "", reasoning_content: "The stock is needed." },
          tool_calls: [{ id: "c1", function: { name: "stock", arguments: '{"sku":"A1"}' } }],
        },
        { role: "tool", name: "stock", tool_call_id: "c1", content: '{"sku":"A1","left":7}' },
        { role: "assistant", content: "There are 7 left." },
      ],
      tools: [
        { type: "function", function: expect.objectContaining({ name: "stock", description: "Stock of an article." }) },
      ],
    },
  ]);
});

describe("scores", () => {
  test("at the call or around it become rewards; conversations with one beginning are a group; those without a score are left out", async () => {
    const { rows, ...counts } = await rowsOf(
      call("7", { scores: { right: 1, short: 0.5 } }),
      call("8", { parent: "agent" }),
      { id: "agent", operation: "invoke_agent", scores: { right: 0 } },
      call("9"),
      { input: [message("user", "Other")], output: [message("assistant", "1")], scores: { right: 1 } },
    );
    expect(counts).toMatchObject({ isScored: true, calls: 4, conversations: 4, unscored: 1 });
    const parsed = rows.map((row, i) => parseRecordedRow(row, String(i)));
    expect(rows.every(isRecordedRow)).toBe(true);
    expect(parsed.map(({ reward, components }) => [reward, components])).toEqual([
      [0.75, { right: 1, short: 0.5 }],
      [0, { right: 0 }],
      [1, { right: 1 }],
    ]);
    const [one, two, three] = parsed as [RecordedRow, RecordedRow, RecordedRow];
    expect([two.group, two.member, three.member]).toEqual([one.group, 1, 0]);
    expect(three.group).not.toBe(one.group);
    expect(one.player).toEqual({ kind: "policy", name: "large", policy: "policy" });
  });

  test("of calls that another one continues count for the whole conversation, one around them once", async () => {
    const first = call("7", { parent: "agent", scores: { right: 1 } });
    const second: Call = {
      input: [asked, message("assistant", "7"), message("user", "Sure?")],
      output: [message("assistant", "Yes.")],
      ...{ parent: "agent", scores: { right: 0, polite: 1 } },
    };
    const { rows, conversations } = await rowsOf(first, second);
    expect(conversations).toBe(1);
    expect(rows).toMatchObject([{ reward: 0.75, components: { right: 0.5, polite: 1 }, turns: { length: 2 } }]);
    const around = { id: "agent", operation: "invoke_agent", scores: { right: 1 } };
    const { rows: shared } = await rowsOf({ ...first, scores: {} }, { ...second, scores: {} }, around);
    expect(shared).toMatchObject([{ reward: 1, components: { right: 1 } }]);
    const third: Call = {
      input: [...(second.input as object[]), message("assistant", "Yes."), message("user", "Really?")],
      output: [message("assistant", "Yes!")],
      ...{ parent: "agent", scores: { right: 0 } },
    };
    // One score around the first two, and one of the last.
    const { rows: three } = await rowsOf({ ...first, scores: {} }, { ...second, scores: {} }, third, around);
    expect(three).toMatchObject([{ reward: 0.5, components: { right: 0.5 } }]);
  });
});

test("equal calls of other traces are other conversations; those with one conversation id continue each other", async () => {
  const lines = (id: (trace: number) => string | undefined): string =>
    [0, 1]
      .flatMap((trace) => {
        const first = span({ id: "1", ...call("7") });
        const input = [asked, message("assistant", "7"), message("user", "Sure?")];
        const second = span({ id: "2", input, output: [message("assistant", "Yes.")], scores: { right: trace } });
        const conversation = id(trace);
        const key = { key: "gen_ai.conversation.id", value: { stringValue: conversation } };
        return [first, second].map((each, i) => ({
          ...each,
          traceId: conversation === undefined ? `${trace}` : `${trace}.${i}`,
          attributes: conversation === undefined ? each.attributes : [...each.attributes, key],
        }));
      })
      .map((each) => `${JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [each] }] }] })}\n`)
      .join("");
  const path = join(folder, "equal.jsonl");
  for (const id of [() => undefined, (trace: number) => `conversation ${trace}`]) {
    writeFileSync(path, lines(id));
    expect(await tracedRows(path)).toMatchObject({ conversations: 2, rows: [{ reward: 0 }, { reward: 1 }] });
  }
});

test("results in messages of a user come before its text; a tool's message with text is left out; instructions beside another system message are kept", async () => {
  const called = { role: "assistant", parts: [{ type: "tool_call", id: "c", name: "stock", arguments: {} }] };
  const result = { type: "tool_call_response", id: "c", response: "7" };
  const output = [message("assistant", "There are 7.")];
  const { rows, leftOut } = await rowsOf(
    { input: [asked, called, { role: "user", parts: [result, ...text("So?")] }], output },
    { input: [asked, called, { role: "tool", parts: [result, ...text("Also")] }], output },
  );
  expect(rows).toMatchObject([
    {
      messages: [
        { role: "user" },
        { role: "assistant" },
        { role: "tool", name: "stock", content: "7" },
        { role: "user", content: "So?" },
        { role: "assistant" },
      ],
    },
  ]);
  expect(leftOut).toEqual({ "without content": 1 });
});

test("a cut answer is cut; failed calls, those without content and those with pictures are counted", async () => {
  const cut = { ...message("assistant", "7 an"), finish_reason: "length" };
  const { rows, leftOut } = await rowsOf(
    { input: [asked], output: [cut], scores: { right: 0 } },
    call("7", { code: 2 }),
    { input: [asked] },
    { input: [asked], output: [{ role: "assistant", parts: [] }] },
    {
      input: [{ role: "user", parts: [{ type: "blob", mime_type: "image/png" }] }],
      output: [message("assistant", "a")],
    },
    { operation: "embeddings" },
  );
  expect(rows).toMatchObject([{ turns: [{ stop_reason: "length" }] }]);
  expect(leftOut).toEqual({ failed: 1, "without content": 2, "with pictures or files": 1 });
});

describe("another file", () => {
  test.each([
    ["not JSON", "{", /:1 is no export of traces/],
    ["JSON of another kind", '{"spans": []}\n', /:1 is no export of traces: it has no list `resourceSpans`/],
    ["a span without ids", '{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}\n', /:1 .*a span has no ids/],
    ["a fault in its second line", '{"resourceSpans":[]}\n[]\n', /:2 is no export/],
  ])("%s is named with its line", async (_name, content, fault) => {
    const path = join(folder, "other.jsonl");
    writeFileSync(path, content);
    await expect(tracedRows(path)).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringMatching(fault),
    });
  });

  test("that does not exist is named", async () => {
    await expect(tracedRows(join(folder, "none"))).rejects.toMatchObject({ code: "DATA_INVALID" });
  });

  test("a changed trace gives rows or a named fault, and nothing else", async () => {
    const whole = readFileSync(AI_SDK, "utf8");
    const path = join(folder, "changed.jsonl");
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(40), fc.string({ maxLength: 5 }), async (at, length, put) => {
        writeFileSync(path, whole.slice(0, at) + put + whole.slice(at + length));
        const outcome = await tracedRows(path).catch((error: unknown) => error);
        if (!MrlmError.hasCode(outcome, "DATA_INVALID")) expect(outcome).toHaveProperty("rows");
      }),
      { numRuns: 300 },
    );
  });
});
