import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { explainedVariance } from "../src/metrics.ts";
import { generalizedAdvantages, whiten } from "../src/gae.ts";
import { ppoOptions } from "../src/options.ts";
import { valueLoss } from "../src/value-loss.ts";

const reference = readFileSync(new URL("../../../docs/reference/algorithms.md", import.meta.url), "utf8");
const shown = (values: Iterable<number>): string => Array.from(values, (value) => Number(value.toFixed(6))).join(", ");
const EPISODE = { rewards: [0, 0, 1], values: [0.5, 0.25, 0.75] };

const estimates = (
  [
    ["terminated, γ 1, λ 0.95", 0, 1, 0.95],
    ["terminated, γ 1, λ 1", 0, 1, 1],
    ["terminated, γ 0.9, λ 0.5", 0, 0.9, 0.5],
    ["truncated, γ 1, λ 0.95, V_3 = 0.5", 0.5, 1, 0.95],
  ] as const
).map(
  ([name, finalValue, gamma, lambda]) =>
    `| ${name} | ${shown(generalizedAdvantages({ ...EPISODE, finalValue }, gamma, lambda))} |`,
);

const losses = (
  [
    ["no clip", 0.5, undefined],
    ["`value_clip: 0.2`, V = 0.5", 0.5, 0.2],
    ["`value_clip: 0.2`, V = 0.1", 0.1, 0.2],
  ] as const
).map(([name, value, clip]) => {
  const { loss, slope } = valueLoss(value, 0, 1, clip);
  return `| ${name} | ${shown([loss])} | ${shown([slope])} |`;
});

test.each([
  ["advantages", estimates],
  [
    "whitening",
    [
      `| whitened 1, 2, 4 | ${shown(whiten([Float64Array.of(1, 2), Float64Array.of(4)]).flatMap((each) => Array.from(each)))} |`,
    ],
  ],
  ["the critic's loss", losses],
  [
    "explained variance",
    [`| values 0.2, 0.4, 0.9, returns 0, 1, 1 | ${shown([explainedVariance([0.2, 0.4, 0.9], [0, 1, 1]) as number])} |`],
  ],
])("docs/reference/algorithms.md has the golden numbers of %s", (_, rows) => {
  for (const row of rows) expect(reference).toContain(row);
});

test("numerics 46: Adam's epsilon is 1e-5, and there is no option that whitens rewards", () => {
  expect(ppoOptions.parse({ steps: 1 }).adam_epsilon).toBe(1e-5);
  expect(Object.keys(ppoOptions.shape).filter((name) => name.includes("whiten"))).toEqual(["whiten_advantages"]);
});
