import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT, run } from "./support/mrlm.ts";
import { runHere } from "./support/run-here.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();
const TRACES = join(ROOT, "core/runtime/test/fixtures/ai-sdk.otlp.jsonl");
const MODEL = `model: { random: { config: { model_type: llama, hidden_size: 16, num_hidden_layers: 1, num_attention_heads: 2, num_key_value_heads: 1, intermediate_size: 16 } } }`;

const collect = (from: string, output: string, ...more: readonly string[]) =>
  runHere(["collect", "--json", "--from", from, "-o", output, ...more]);

/** Checks that a stage accepts a file. */
async function learns(stage: string) {
  const config = join(folder, "run.yaml");
  writeFileSync(config, `${MODEL}\nstages: [${stage}]\n`);
  return (await run(["train", "--config", config, "--dry-run", "--set", `output=${join(folder, "runs")}`])).stderr;
}

test("conversations of the AI SDK are data of sft", async () => {
  const output = join(folder, "rows.jsonl");
  const { code, events } = await collect(TRACES, output);
  expect([code, events]).toMatchObject([0, [{ event: "collection", rows: 1, calls: 2, scored: false }]]);
  expect(await learns(`{ algorithm: sft@1, steps: 1, batch_size: 1, data: ${output} }`)).not.toContain("DATA_INVALID");
  expect(await collect(TRACES, output)).toMatchObject({ code: 2, stderr: expect.stringContaining("already exists") });
}, 300_000);

test("scored calls are data of dpo and of sft with min_reward", async () => {
  const [trace = ""] = readFileSync(TRACES, "utf8").split("\n");
  // The same agent twice, with another answer and another score.
  const scored = (score: number, id: string): string => {
    const { resourceSpans } = JSON.parse(trace.replaceAll("There are 7 left.", `There are ${score} left.`)) as {
      resourceSpans: { scopeSpans: { spans: { traceId: string; events: object[]; parentSpanId?: string }[] }[] }[];
    };
    for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))) {
      span.traceId = id;
      const value = { doubleValue: score };
      const attributes = [{ key: "gen_ai.evaluation.score.value", value }];
      if (span.parentSpanId === undefined) span.events = [{ name: "gen_ai.evaluation.result", attributes }];
    }
    return JSON.stringify({ resourceSpans });
  };
  const [traces, output] = [join(folder, "scored.jsonl"), join(folder, "episodes.jsonl")];
  writeFileSync(traces, `${scored(1, "a")}\n${scored(0, "b")}\n`);
  expect((await collect(traces, output)).events).toMatchObject([{ rows: 2, scored: true }]);
  const stages = `{ algorithm: dpo@1, steps: 1, batch_size: 1, data: ${output} }, { algorithm: sft@1, steps: 1, batch_size: 1, data: [{ path: ${output}, min_reward: 1 }] }`;
  expect(await learns(stages)).not.toContain("DATA_INVALID");
}, 300_000);

test("flags for playing, other files and traces without content are refused", async () => {
  const output = join(folder, "none.jsonl");
  const empty = join(folder, "empty.jsonl");
  writeFileSync(empty, '{"resourceSpans": []}\n');
  const refused: readonly (readonly [readonly string[], string])[] = [
    [["collect", "--from", TRACES, "--model", "x", "-o", output], "--model is for playing"],
    [["collect", "--from", TRACES, "-o", "x.parquet"], "does not end in .jsonl"],
    [["collect", "--from", empty, "-o", output], "has nothing to learn from: 0 calls"],
    [["collect", "-o", output], "collect needs --model"],
  ];
  for (const [args, text] of refused)
    expect(await runHere(args)).toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining(text) });
}, 300_000);
