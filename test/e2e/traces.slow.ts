import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWithEngine } from "./support/engine.ts";
import { run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

interface WrittenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

const directory = temporaryDirectory();

describeWithEngine("spans of a run (skipped where `npm run setup` has not run)", () => {
  test("an iteration has rollouts, a rollout its turns, and a step of the environment its work in the server", async () => {
    const file = join(directory, "otel.jsonl");
    const stages = [{ algorithm: "grpo@1", steps: 2, prompts_per_step: 2, group_size: 3, learning_rate: 1e-3 }];
    const config = writeConfig(directory, { ...TINY, stages, eval: { tasks: 0 } });
    const { code, stderr } = await run(["train", "--config", config, "--output", join(directory, "run")], {
      MRLM_TRACES: file,
    });
    expect([code, stderr]).toEqual([0, expect.anything()]);
    const spans = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .flatMap((line) => JSON.parse(line).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap((scope: { spans: WrittenSpan[] }) => scope.spans);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const counts = Map.groupBy(spans, ({ name, parentSpanId }) => {
      const parent = byId.get(parentSpanId ?? "");
      return parent === undefined ? name : `${parent.name} > ${name}`;
    });
    expect(Object.fromEntries([...counts].map(([name, of]) => [name, of.length]))).toMatchObject({
      // The last one finds that the stage has ended.
      iteration: 3,
      "iteration > rollout": 12,
      "rollout > chat policy": 12,
      "rollout > environment reset": 12,
      "rollout > environment step": 12,
      "environment reset > environment reset": 12,
      "environment step > environment step": 12,
      "environment step > score math@2": 12,
      "iteration > engine forward_backward": 2,
      "iteration > engine optim_step": 2,
    });
    const chat = spans.find(({ name }) => name === "chat policy");
    const names = chat?.attributes.map(({ key }) => key);
    expect(names).toEqual(
      expect.arrayContaining(["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.request.model"]),
    );
  }, 300_000);
});
