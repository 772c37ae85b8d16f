import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { grpo } from "@mrlm/grpo";
import { toolset } from "@mrlm/kit";
import type { EnvironmentDefinition, JsonObject, Tool } from "@mrlm/spec";
import { lettersEnvironment, trainBigram, trainBigramInterrupted } from "@mrlm/testing";

const echo: Tool = {
  name: "echo",
  description: "Returns a text.",
  parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  call: async ({ text }) => ({ content: [{ type: "text", text: String(text) }], isError: false }),
};

/** The letters environment, whose steps call a tool: once rightly, and once with wrong arguments. */
function calling(): EnvironmentDefinition {
  const letters = lettersEnvironment({ turns: 2 });
  return {
    ...letters,
    requires: ["tool:echo@1"],
    create: async (context, options) => {
      const inner = await letters.create(context, options);
      let tools: readonly Tool[] = [];
      return {
        async reset(given) {
          ({ tools } = await context.tools("echo@1").open({ seed: given.seed ?? null, signal: given.signal }));
          return inner.reset(given);
        },
        async step(action, given) {
          for (const args of [{ text: "a" }, { text: 1 }]) await tools[0]?.call(args, given);
          return inner.step(action, given);
        },
      };
    },
  };
}

const training = {
  algorithms: [grpo],
  environments: [calling()],
  tools: { "echo@1": () => toolset([echo]) },
  stages: [{ algorithm: "grpo", steps: 3, prompts_per_step: 2, group_size: 2 }],
  config: { eval: { tasks: 2, samples: 0 } },
};

const withoutSeconds = (metrics: object) =>
  Object.fromEntries(
    Object.entries(metrics).filter(([name]) => name.startsWith("tools/") && !name.includes("seconds")),
  );

test("calls of tools are metrics of iterations and evaluations, also of a run that was killed and resumed", async () => {
  const whole = await trainBigram(training);
  const expected = {
    "tools/echo/calls": { sum: 16, count: 4 },
    "tools/echo/errors": { sum: 8, count: 4 },
    "tools/echo/truncated": { sum: 0, count: 4 },
  };
  expect(whole.reports.map(({ metrics }) => withoutSeconds(metrics))).toEqual([expected, expected, expected]);
  expect(whole.reports[0]?.metrics).toMatchObject({ "tools/echo/seconds": { sum: expect.any(Number), count: 4 } });
  const rows = readFileSync(join(whole.summary.directory, "metrics.jsonl"), "utf8").trim().split("\n");
  const parsed = rows.map((row) => JSON.parse(row) as JsonObject);
  expect(
    parsed.filter(({ kind }) => kind === "iteration").map(({ metrics }) => withoutSeconds(metrics as object)),
  ).toEqual(Array(3).fill({ "tools/echo/calls": 4, "tools/echo/errors": 2, "tools/echo/truncated": 0 }));
  expect(parsed.find(({ kind }) => kind === "evaluation")).toMatchObject({
    greedy: { tools: { echo: { calls: 4, errors: 2, truncated: 0, seconds: expect.any(Number) } } },
  });
  const resumed = await trainBigramInterrupted(training, 2);
  expect(resumed.weights).toEqual(whole.weights);
  expect(resumed.reports.map(({ metrics }) => withoutSeconds(metrics))).toEqual([expected, expected]);
});
