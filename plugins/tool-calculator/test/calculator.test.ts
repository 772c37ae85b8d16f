import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { Tool, ToolResult } from "@mrlm/kit";
import { Calculator } from "../src/calculator.ts";
import plugin from "../src/index.ts";
import { CalculatorToolset } from "../src/calculator-toolset.ts";
import { evaluateIn } from "./support/evaluate-in.ts";
import { exhausting, forbidden } from "./support/hostile-expressions.ts";

const limits = { workers: 2, timeoutMs: 400, memoryMb: 128, outputBytes: 256 };
const toolset = new CalculatorToolset(limits);
const { signal } = new AbortController();

async function openTool(): Promise<{ tool: Tool; close: () => Promise<void> }> {
  const { tools, close } = await toolset.open();
  return { tool: tools[0]!, close };
}

const textOf = ({ content }: ToolResult): string => (content[0]?.type === "text" ? content[0].text : "");

afterAll(() => toolset.close());

describe("calls", () => {
  test("return a result, or an error that the policy reads", async () => {
    const { tool, close } = await openTool();
    await expect(tool.call({ expression: "1/3 + 1/6" }, { signal })).resolves.toEqual({
      content: [{ type: "text", text: "0.5" }],
      isError: false,
    });
    const failed = await tool.call({ expression: "foo + 1" }, { signal });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toBe(
      "Error: Unknown name foo: it is no function, constant, unit or variable of this expression.",
    );
    await close();
  });

  test("state that a result is truncated", async () => {
    const { tool, close } = await openTool();
    const result = await tool.call({ expression: "500!" }, { signal });
    expect(result).toMatchObject({ isError: false, truncated: true });
    expect(Buffer.byteLength(textOf(result))).toBe(256);
    expect(textOf(result)).toMatch(
      /^12201368259911\d+\n\[truncated: the whole result has 1135 bytes, the limit is 256\]$/,
    );
    await close();
  });

  test("of one episode run one after the other, those of several at the same time", async () => {
    const [first, second] = [await openTool(), await openTool()];
    const hostile = [1, 2, 3].map(() => first.tool.call({ expression: "sum(1:1e12)" }, { signal }));
    let isHostileOver = false;
    void Promise.all(hostile).then(() => (isHostileOver = true));
    expect(textOf(await second.tool.call({ expression: "2 + 3" }, { signal }))).toBe("5");
    expect(isHostileOver).toBe(false);
    for (const result of await Promise.all(hostile)) expect(result.isError).toBe(true);
    await first.close();
    await second.close();
  });

  test("end with their signal, while they wait and while they run", async () => {
    const { tool, close } = await openTool();
    const controller = new AbortController();
    const calls = [1, 2].map(() => tool.call({ expression: "sum(1:1e12)" }, controller));
    controller.abort(new Error("the step is over"));
    for (const call of calls) await expect(call).rejects.toThrow("the step is over");
    await expect(tool.call({ expression: "1" }, controller)).rejects.toThrow("the step is over");
    expect(textOf(await tool.call({ expression: "1" }, { signal }))).toBe("1");
    await close();
  });

  test("do not change the results of later calls, also if the library loses its precision in an error", async () => {
    const { tool, close } = await openTool();
    const expressions = ["sqrt(2)", "1/3 + 0.1", "cos(1)", "2^0.5 * 3"];
    const evaluateAll = async (): Promise<string[]> => {
      const results = [];
      for (const expression of expressions) results.push(textOf(await tool.call({ expression }, { signal })));
      return results;
    };
    const before = await evaluateAll();
    for (const expression of [
      "sin(1e1000000)",
      "cos(1e1000000)",
      "tan(1e1000000)",
      "exp(i * 1e1000000)",
      "atan(1e-1000000)",
    ]) {
      await tool.call({ expression }, { signal });
      expect(await evaluateAll()).toEqual(before);
    }
    await close();
  });

  test("do not keep variables", async () => {
    const { tool, close } = await openTool();
    await tool.call({ expression: "x = 5" }, { signal });
    expect(textOf(await tool.call({ expression: "x" }, { signal }))).toContain("Unknown name x");
    await close();
  });
});

test.each(["sum(1:1e9)", "zeros(1e8)"])("%s ends a worker, not this process", async (expression) => {
  expect(await evaluateIn(toolset, expression)).toMatchObject({ isError: true });
  expect((await evaluateIn(toolset, "1/3 + 1/6")).text).toBe("0.5");
});

test(`${forbidden.length} expressions that would leave the calculator are errors`, async () => {
  expect(exhausting.length + forbidden.length).toBeGreaterThanOrEqual(30);
  for (const [expression, message] of forbidden) {
    const { text, isError } = await evaluateIn(toolset, expression);
    expect({ expression, isError }).toEqual({ expression, isError: true });
    expect(text).toContain(message);
  }
});

test("a calculator that cannot start fails the call, which is not an answer for the policy", async () => {
  const calculator = new Calculator({ ...limits, memoryMb: 4 });
  await expect(calculator.evaluate("1", {}, { signal })).rejects.toMatchObject({ code: "TOOL_FAILED" });
  calculator.close();
});

test("a closed calculator leaves no process; a later call starts one", async () => {
  const calculator = new Calculator(limits);
  expect(await calculator.evaluate("1", {}, { signal })).toMatchObject({ text: "1" });
  const [pid] = calculator.processIds;
  calculator.close();
  while (isRunning(pid!)) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await calculator.evaluate("2", {}, { signal })).toMatchObject({ text: "2" });
  calculator.close();
});

test("a worker process ends with the process that started it, also if that one is killed while an expression runs", async () => {
  const source = new URL("../src/calculator.ts", import.meta.url);
  const program = `
    import { Calculator } from ${JSON.stringify(source.href)};
    const calculator = new Calculator(${JSON.stringify({ ...limits, timeoutMs: 20_000 })});
    const { signal } = new AbortController();
    await calculator.evaluate("1", {}, { signal });
    console.log(calculator.processIds[0]);
    await calculator.evaluate("sum(1:1e12)", {}, { signal });`;
  const args = ["--conditions=mrlm-source", "--no-warnings", "--input-type=module", "--eval", program];
  const host = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(host.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  expect(isRunning(pid)).toBe(true);
  host.kill("SIGKILL");
  while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("the plugin provides what its manifest lists, and rejects unknown options", async () => {
  const { mrlm } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8"));
  expect(Object.keys(plugin.tools ?? {}).map((id) => `tool:${id}`)).toEqual(mrlm.provides);
  const schema = plugin.options!["~standard"];
  expect(await schema.validate({})).toEqual({
    value: { workers: 2, timeout_ms: 1_000, memory_mb: 128, output_bytes: 16_384 },
  });
  expect(await schema.validate({ timeout: 5 })).toHaveProperty("issues");
});
