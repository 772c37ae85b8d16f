import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { type Finished, Mrlm, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const folder = temporaryDirectory();
const output = join(folder, "improved");
/** A training of a tiny model and two evaluations take 20 CPU seconds. */
const TEST_MS = 600_000;
const LABELS = ["north", "south", "east", "west"] as const;
/** Settings with which a model of two small layers learns; those of the command are for pretrained ones. */
const SETTINGS = [
  ...["--set", "stages.0.learning_rate=5e-3", "--set", "stages.0.steps=120"],
  ...["--set", "stages.1.learning_rate=1e-3", "--set", "stages.1.steps=4"],
];

/** Writes 120 cases, whose first letter decides the label that `labelOf` returns. */
function writeCases(name: string, labelOf: (kind: number, index: number) => string): string {
  const file = join(folder, name);
  const rows = Array.from({ length: 120 }, (_, i) => ({
    input: `${"abcd"[i % 4]}${(i * 37) % 1000} to`,
    expected: labelOf(i % 4, i),
  }));
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return file;
}

const cases = writeCases("cases.jsonl", (kind) => LABELS[kind] as string);
/** The same labels, which do not depend on the input. */
const shuffled = writeCases("shuffled.jsonl", (_, i) => LABELS[(i * i + (i >> 3)) % 4] as string);

let model: string;
beforeAll(async () => {
  const config = {
    ...TINY,
    environments: [{ id: "cases@1", options: { data: { path: cases } } }],
    stages: [{ algorithm: "sft@1", steps: 1, batch_size: 4, learning_rate: 1e-6 }],
    ...{ eval: { tasks: 0 }, output: join(folder, "runs") },
  };
  const { code, stderr } = await run(["train", "--config", writeConfig(folder, config)]);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  model = join(folder, "runs", readdirSync(join(folder, "runs"))[0] as string);
}, TEST_MS);

const improve = (file: string): readonly string[] => [
  "improve",
  file,
  "--model",
  model,
  "--output",
  output,
  "--json",
  ...SETTINGS,
];
const improvementOf = ({ events }: Finished) => events.find(({ event }) => event === "improvement");

test(
  "a tiny model gains on held-out cases, also when the command is interrupted and resumed; a changed file is refused",
  async () => {
    const first = new Mrlm(improve(cases));
    await first.event(({ event }) => event === "iteration");
    first.child.kill("SIGTERM");
    const stopped = await first.finished;
    expect(stopped.code).toBe(130);
    const [name = ""] = readdirSync(output);
    expect(stopped.stderr).toContain(`mrlm improve --resume ${join(output, name)}`);

    const text = readFileSync(cases, "utf8");
    writeFileSync(cases, text.replace("north", "noord"));
    const changed = await run(["improve", "--resume", join(output, name), "--json"]);
    expect(changed.events.find(({ event }) => event === "error")).toMatchObject({ code: "DATA_INVALID" });
    writeFileSync(cases, text);

    const finished = await run(["improve", "--resume", join(output, name), "--json"]);
    const improvement = improvementOf(finished);
    expect({ code: finished.code, improvement }).toMatchObject({
      code: 0,
      improvement: { verdict: "gain", cases: { train: 80, held: 40 }, overBefore: { difference: expect.any(Number) } },
    });
    expect(improvement?.["after"]).toBeGreaterThan(0.8);
    const report = readFileSync(improvement?.["report"] as string, "utf8");
    expect(report).toContain("# Gain shown");
    expect(report).toContain(`mrlm serve --model ${String(improvement?.["train"])}`);
    expect(existsSync(join(output, name, "report.html"))).toBe(true);
    // A finished one trains and plays nothing again.
    const again = await run(["improve", "--resume", join(output, name), "--json"]);
    expect([again.code, improvementOf(again)]).toEqual([0, improvement]);
    expect(again.stderr).not.toContain("starting the engine");
  },
  TEST_MS,
);

test(
  "with labels that do not depend on the input no gain is shown",
  async () => {
    const finished = await run(improve(shuffled));
    expect({ code: finished.code, improvement: improvementOf(finished) }).toMatchObject({
      code: 4,
      improvement: { verdict: "no gain", before: 0, fixed: expect.any(Number) },
    });
  },
  TEST_MS,
);
