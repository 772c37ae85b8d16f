import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { ROOT } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { casesOf, configOf, shortened } from "./cases.ts";
import { compareFingerprints } from "./compare.ts";
import { describeDifferences, largestNorm } from "./describe.ts";
import { fingerprintOf } from "./fingerprint.ts";

const directory = temporaryDirectory();
const WEIGHTS = [1, 2, 3, 4];
const ROWS = [
  {
    kind: "evaluation",
    step: 0,
    stage: "start",
    greedy: { accuracy: 0.25 },
    text: "a notice",
    seconds: { evaluation: 1.5 },
  },
  {
    kind: "iteration",
    step: 1,
    stage: "grpo",
    metrics: { "loss/policy": 0.5, "optim/grad_norm": 2, "reward/mean": null },
    counts: { "loss/policy": 3 },
    seconds: { total: 1 },
  },
  {
    kind: "iteration",
    step: 2,
    stage: "grpo",
    metrics: { "loss/policy": 0.25, "optim/grad_norm": 1, "reward/mean": 0.1 },
    counts: { "loss/policy": 3 },
    seconds: { total: 2 },
  },
];

/** Writes what a run leaves behind and returns its directory. */
function run(
  name: string,
  {
    rows = ROWS,
    weights = WEIGHTS,
    tensor = "norm.weight",
    file = "weights.safetensors",
  }: { rows?: readonly object[]; weights?: readonly number[]; tensor?: string; file?: string } = {},
): string {
  const path = join(directory, name);
  const model = join(path, "checkpoints", "00000002-1", "engine", "models", "0");
  mkdirSync(model, { recursive: true });
  writeFileSync(join(path, "metrics.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  writeFileSync(join(model, file), safetensors(tensor, Float32Array.from(weights)));
  writeFileSync(
    join(path, "checkpoints", "00000002-1", "engine", "random.safetensors"),
    safetensors("seed", Float32Array.of(Math.random())),
  );
  return path;
}

function safetensors(name: string, values: Float32Array): Buffer {
  const header = Buffer.from(
    JSON.stringify({
      __metadata__: { format: "pt" },
      [name]: { dtype: "F32", shape: [values.length], data_offsets: [0, 4 * values.length] },
    }),
  );
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, Buffer.from(values.buffer)]);
}

const withMetric = (name: string, value: number): object[] =>
  ROWS.map((row) => (row.step === 2 ? { ...row, metrics: { ...row.metrics, [name]: value } } : row));
/** The next float32 above 3. */
const NEXT_AFTER_3 = 3 + 2 ** -22;

describe("same bits", () => {
  const base = run("base");
  const compare = (head: string, options = {}): ReturnType<typeof compareFingerprints> =>
    compareFingerprints(fingerprintOf(base), fingerprintOf(head), options);
  const described = (head: string): string => describeDifferences(compare(head), base, head);

  test("seconds, texts and the state of random streams are not compared", () => {
    const rows = ROWS.map((row) => ({
      ...row,
      text: "another notice",
      seconds: { total: 99 },
      ...(row.metrics === undefined ? {} : { metrics: { ...row.metrics, "wait/training": 99 } }),
    }));
    expect(compare(run("other-seconds", { rows }))).toEqual([]);
  });

  test("one bit of one weight is found, with the relative norm of the difference", () => {
    const head = run("one-bit", { weights: [1, 2, NEXT_AFTER_3, 4] });
    expect(compare(head)).toHaveLength(1);
    expect(described(head)).toBe(
      "tensor 00000002-1/engine/models/0/weights.safetensors norm.weight: relative norm of the difference 4.35e-8; in all 0 metric values and 1 tensors",
    );
    expect(largestNorm(compare(head), base, head)).toBeCloseTo(2 ** -22 / Math.sqrt(30), 12);
  });

  test.each([
    ["the last bit of a metric", "loss/policy", 0.25, 0.25 + 2 ** -54],
    ["a metric that is now 0", "reward/mean", 0.1, 0],
  ])("%s is found, with its step and both values", (_, name, was, value) => {
    const head = run(`metric-${value}`, { rows: withMetric(name, value) });
    expect(described(head)).toBe(
      `iteration at step 2 (grpo), metrics/${name}: ${was} in the base, ${value} here; in all 1 metric values and 0 tensors`,
    );
  });

  test.each([
    ["is missing", ROWS.slice(0, 2), "the base has iteration at step 2 (grpo) where this commit has no row"],
    [
      "is too many",
      [...ROWS, { ...ROWS[2], step: 3 }],
      "the base has no row where this commit has iteration at step 3 (grpo)",
    ],
    [
      "is in another place",
      [ROWS[1], ROWS[0], ROWS[2]] as object[],
      "the base has evaluation at step 0 (start) where this commit has iteration at step 1 (grpo)",
    ],
  ])("a step that %s is found", (name, rows, message) => {
    expect(described(run(`step-${name}`, { rows }))).toContain(message);
  });

  test("a metric or a tensor that one side lacks is a difference, unless it has been renamed or left out", () => {
    const rows = ROWS.map(
      (row) =>
        JSON.parse(
          JSON.stringify(row).replaceAll("loss/policy", "loss/surrogate").replace("greedy", "argmax"),
        ) as object,
    );
    const head = run("renamed", { rows, tensor: "ln.weight", file: "model.safetensors" });
    expect(compare(head).map(({ about }) => about)).toEqual([...Array<string>(10).fill("metric"), "tensor", "tensor"]);
    const renames = {
      "loss/policy": "loss/surrogate",
      greedy: "argmax",
      "norm.weight": "ln.weight",
      "weights.safetensors": "model.safetensors",
    };
    expect(compare(head, { renames })).toEqual([]);
    expect(
      compare(run("left-out", { rows: withMetric("buffer/size", 7) }), { renames: { "buffer/size": null } }),
    ).toEqual([]);
  });

  test("a tolerance bounds losses, twenty times it gradient norms, and nothing else is compared", () => {
    const options = { tolerance: 1e-5 };
    expect(
      compare(run("near", { rows: withMetric("optim/grad_norm", 1 + 1.9e-4), weights: [1, 2, 3, 5] }), options),
    ).toEqual([]);
    expect(compare(run("near-loss", { rows: withMetric("loss/policy", 0.25 + 9e-6) }), options)).toEqual([]);
    expect(compare(run("far", { rows: withMetric("optim/grad_norm", 1 + 2.1e-4) }), options)).toHaveLength(1);
    expect(compare(run("far-loss", { rows: withMetric("loss/policy", 0.25 + 2e-5) }), options)).toHaveLength(1);
    expect(compare(run("other-reward", { rows: withMetric("reward/mean", 0.2) }), options)).toEqual([]);
  });
});

describe("cases", () => {
  test("every example that needs no download is one, with its budget of tokens pinned, and so are the files of the folder", () => {
    const cases = casesOf(ROOT);
    expect(cases.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "quickstart/quickstart",
        "typescript/train",
        "same-bits/dynamic-sampling",
        "same-bits/kill-and-resume",
        "same-bits/max-staleness",
      ]),
    );
    expect(cases.map(({ name }) => name)).not.toContain("gsm8k/gsm8k");
    for (const each of cases.filter(({ path }) => path.endsWith(".yaml"))) {
      const { model, policies = { model } } = configOf(each, ROOT, ROOT).config as Record<string, object>;
      for (const one of Object.values(policies))
        expect([each.name, one]).toEqual([
          each.name,
          expect.objectContaining({ micro_batch_tokens: expect.any(Number) }),
        ]);
    }
  });

  test("a tree without the file takes that of the newer one", () => {
    const quickstart = casesOf(ROOT).find(({ name }) => name === "quickstart/quickstart");
    const [own, other] = [ROOT, directory].map((tree) => configOf(quickstart!, tree, ROOT));
    expect([own?.isOwn, other?.isOwn, other?.config]).toEqual([true, false, own?.config]);
  });

  test("shortening keeps what an example is about", () => {
    const stage = { algorithm: "grpo@1", steps: 500, prompts_per_step: 64, kl_coefficient: 0.1 };
    const { stages } = shortened({ model: { random: {} }, stages: [stage] }) as { stages: object[] };
    expect(stages).toEqual([
      { algorithm: "grpo@1", steps: 3, prompts_per_step: 6, group_size: 4, kl_coefficient: 0.1 },
    ]);
  });
});
