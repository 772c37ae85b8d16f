import { expect, test } from "@jest/globals";
import { definePlugin, toolset } from "@mrlm/kit";
import { type MrlmError, type Tool } from "@mrlm/spec";
import { LocalHost, parseConfig, PluginHost, prepareRun } from "@mrlm/runtime";
import { z } from "zod";
import { counterEnvironment } from "./support/counter-environment.ts";

const tool = (name: string): Tool => ({
  name,
  description: "",
  parameters: { type: "object" },
  call: async () => ({ content: [], isError: false }),
});

/** Returns the error of preparing a run whose environment opens the toolsets that its option names. */
async function failureOf(toolsets: string): Promise<MrlmError | undefined> {
  const environment = counterEnvironment({
    options: z.strictObject({ sources: z.strictObject({ toolsets: z.array(z.string()) }) }) as never,
    requires: (_context: unknown, options: { sources: { toolsets: string[] } }) =>
      options.sources.toolsets.map((id) => ({ id: `tool:${id}`, asker: "the option `toolsets`" })),
  } as never);
  const plugin = definePlugin({
    name: "test",
    environments: [environment],
    tools: {
      "calculator@1": () => toolset([tool("calculator")]),
      "abacus@1": () => toolset([tool("abacus"), tool("calculator")]),
    },
  });
  const source = await PluginHost.of([plugin]);
  const text = `model: { path: m }
environments:
  - id: counter@1
    options:
      sources:
        toolsets: ${toolsets}
stages: [{ algorithm: grpo@1, steps: 1 }]
`;
  return prepareRun(parseConfig(text, { path: "run.yaml" }), {
    host: new LocalHost({ source }),
    algorithms: source,
  }).then(
    () => undefined,
    (error: MrlmError) => error,
  );
}

test("a toolset that no plugin provides is reported at its place, with the nearest name", async () => {
  expect(await failureOf("[abacus@1, calculater]")).toMatchObject({
    code: "REQUIREMENT_MISSING",
    message: expect.stringMatching(/^run\.yaml:6:30: The option `toolsets` requires tool "calculater".*"calculator"/),
  });
});

test("two tools of one name are reported at the second toolset, with both", async () => {
  expect(await failureOf("[abacus, calculator]")).toMatchObject({
    code: "TOOL_CONFLICT",
    message: expect.stringMatching(
      /^run\.yaml:6:28: Toolsets abacus \(plugin test\) and calculator \(plugin test\) both have .* "calculator"/,
    ),
  });
  expect((await failureOf("[calculator]"))?.code).not.toBe("TOOL_CONFLICT");
});

test("an unknown option of a plugin is reported with the nearest one", async () => {
  const options = z.strictObject({ workers: z.int().default(1) }).prefault({});
  const plugin = definePlugin({ name: "test", options, tools: { "calculator@1": () => toolset([tool("one")]) } });
  await expect(PluginHost.of([plugin], { plugins: { test: { wrokers: 3 } } })).rejects.toMatchObject({
    code: "OPTIONS_INVALID",
    message: expect.stringContaining('unknown key "wrokers" (did you mean "workers"?)'),
  });
});
