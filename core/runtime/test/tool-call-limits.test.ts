import { expect, test } from "@jest/globals";
import { openEpisodeTools } from "@mrlm/runtime";
import { toolset } from "@mrlm/kit";
import type { JsonObject, Tool } from "@mrlm/spec";
import { argumentFaults } from "../src/host/tool-call-limits.ts";

const signal = new AbortController().signal;
const tool = (parameters: JsonObject): Tool => ({
  name: "search",
  description: "Searches.",
  parameters,
  outputBytes: 1_000,
  call: async () => ({ content: [], isError: false }),
});

test("an asynchronous schema is not compiled, and a warning names its tool", () => {
  const warnings: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  const schema = { $async: true, type: "object", required: ["query"] };
  expect(argumentFaults(tool(schema), {}, logger)).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("tool search is invalid")]);
});

test("D11: a schema that refers to itself without end accepts all arguments, and a warning names its tool", () => {
  const warnings: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  const endless = tool({ properties: { v: { $ref: "#/$defs/A" } }, $defs: { A: { allOf: [{ $ref: "#/$defs/A" }] } } });
  expect(argumentFaults(endless, { v: 1 }, logger)).toBeUndefined();
  expect(argumentFaults(endless, { v: 2 }, logger)).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining("tool search is invalid")]);
});

test("the text about invalid arguments has the limit of the tool's output", async () => {
  const schema = { type: "object", additionalProperties: false };
  const { tools, close } = await openEpisodeTools(toolset([tool(schema)]), { seed: 0, signal });
  const result = await tools[0]?.call({ ["x".repeat(200_000)]: 1 }, { signal });
  expect(result).toMatchObject({ isError: true, truncated: true });
  expect(JSON.stringify(result).length).toBeLessThan(1_200);
  await close();
});

test("a timeout that is longer than any timer does not end a call", async () => {
  const endless: Tool = {
    ...tool({}),
    timeoutMs: Infinity,
    call: () =>
      new Promise((resolve) =>
        setTimeout(() => resolve({ content: [{ type: "text", text: "late" }], isError: false }), 20),
      ),
  };
  const { tools, close } = await openEpisodeTools(toolset([endless]), { seed: 0, signal });
  expect(await tools[0]?.call({}, { signal })).toMatchObject({ isError: false });
  await close();
});

test("an image in a data: URL counts for the limit of images", async () => {
  const url = `data:image/png;base64,${"A".repeat(5 * 1024 * 1024)}`;
  const image: Tool = {
    ...tool({}),
    call: async () => ({ content: [{ type: "image", mediaType: "image/png", source: { url } }], isError: false }),
  };
  const { tools, close } = await openEpisodeTools(toolset([image]), { seed: 0, signal });
  const result = await tools[0]?.call({}, { signal });
  expect(result).toMatchObject({ truncated: true, content: [{ type: "text" }] });
  await close();
});

test("equal schemas of tools that are made for each episode are compiled once", () => {
  const warnings: string[] = [];
  const logger = { debug: () => {}, info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
  for (let episode = 0; episode < 3; episode++)
    argumentFaults({ name: "made", description: "", parameters: { type: "nothing" } }, {}, logger);
  expect(warnings).toEqual([expect.stringContaining("tool made is invalid")]);
});
