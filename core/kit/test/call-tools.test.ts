import { describe, expect, test } from "@jest/globals";
import type { JsonObject, Message, Part, Tool, ToolResult } from "@mrlm/spec";
import { callTools } from "../src/index.ts";

const { signal } = new AbortController();
const call = (id: string, name: string, given: JsonObject = {}): Part => ({
  type: "tool-call",
  id,
  name,
  arguments: given,
});
const malformed = (text: string): Part => ({ type: "malformed-call", text, format: "hermes", error: "E.", offset: 2 });
const assistant = (...parts: readonly Part[]): Message => ({ role: "assistant", parts });
const output = (text: string, isError = false): ToolResult => ({ content: [{ type: "text", text }], isError });
const tool = (name: string, run: Tool["call"]): Tool => ({ name, description: "", parameters: {}, call: run });
const result = (id: string, name: string, { content, isError }: ToolResult): Part => ({
  type: "tool-result",
  id,
  name,
  content,
  isError,
});

describe("callTools", () => {
  test("runs the calls of a message at the same time and returns results in call order", async () => {
    const began: string[] = [];
    const second = Promise.withResolvers<ToolResult>();
    const tools = [
      // The first call ends after the second: calls that wait for each other would never end.
      tool("f", async ({ a }) => {
        began.push(`f${a}`);
        await second.promise;
        return output(`f${a}`);
      }),
      tool("g", async () => {
        began.push("g");
        second.resolve(output("g"));
        return second.promise;
      }),
    ];
    const message = assistant(
      { type: "text", text: "t" },
      call("1", "f", { a: 1 }),
      call("2", "g"),
      call("3", "f", { a: 2 }),
    );
    expect(await callTools(tools, message, { signal })).toEqual([
      {
        role: "tool",
        parts: [result("1", "f", output("f1")), result("2", "g", output("g")), result("3", "f", output("f2"))],
      },
    ]);
    expect(began).toEqual(["f1", "g", "f2"]);
  });

  test("a failed call does not cancel the others", async () => {
    const tools = [tool("f", async () => output("no page", true)), tool("g", async () => output("g"))];
    expect(await callTools(tools, assistant(call("1", "f"), call("2", "g")), { signal })).toEqual([
      { role: "tool", parts: [result("1", "f", output("no page", true)), result("2", "g", output("g"))] },
    ]);
  });

  test("rejects with the first broken tool in call order, after all calls have ended", async () => {
    let ended = 0;
    const after = (turns: number, error?: Error): Tool["call"] => {
      return async () => {
        for (let i = 0; i < turns; i++) await Promise.resolve();
        ended++;
        if (error !== undefined) throw error;
        return output("");
      };
    };
    const tools = [tool("f", after(50, new Error("f"))), tool("g", after(1, new Error("g"))), tool("h", after(100))];
    const message = assistant(call("1", "f"), call("2", "g"), call("3", "h"));
    await expect(callTools(tools, message, { signal })).rejects.toThrow("f");
    expect(ended).toBe(3);
  });

  test("answers unknown tools and malformed calls with their reasons", async () => {
    const tools = [tool("f", async () => output("1")), tool("g", async () => output("2"))];
    const long = `<tool_call>${"x".repeat(100)}`;
    const message = assistant(malformed("<x>"), call("1", "toString"), call("2", "f"), malformed(long));
    expect(await callTools(tools, message, { signal })).toEqual([
      {
        role: "tool",
        parts: [
          result("1", "toString", output('There is no tool "toString". Available tools: f, g.', true)),
          result("2", "f", output("1")),
        ],
      },
      {
        role: "tool",
        parts: [
          {
            type: "text",
            text:
              'A tool call is malformed and was not run. E. The fault is at character 3 of "<x>".\n' +
              `A tool call is malformed and was not run. E. The fault is at character 3 of "${long.slice(0, 80)}...".`,
          },
        ],
      },
    ]);
    expect(await callTools([], assistant(call("1", "f")), { signal })).toEqual([
      { role: "tool", parts: [result("1", "f", output('There is no tool "f". No tool is available.', true))] },
    ]);
  });

  test("returns no message for a message without calls", async () => {
    expect(await callTools([], assistant({ type: "text", text: "t" }), { signal })).toEqual([]);
  });

  test("passes the arguments and the signal", async () => {
    const given: unknown[] = [];
    const tools = [
      tool("f", async (args, options) => {
        given.push(args, options.signal);
        return output("");
      }),
    ];
    await callTools(tools, assistant(call("1", "f", { a: [1] })), { signal });
    expect(given).toEqual([{ a: [1] }, signal]);
  });
});
