import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { klEstimate, mismatchWeight, weightedKl } from "@mrlm/kit/learning";
import { groupAdvantages } from "../src/advantages.ts";
import { type PolicyLossOptions, policyLosses } from "../src/losses/index.ts";
import { overlongPenalty } from "../src/samples.ts";

const reference = readFileSync(new URL("../../../docs/reference/algorithms.md", import.meta.url), "utf8");
const shown = (value: number): string => String(Math.abs(value) < 5e-7 ? 0 : Number(value.toFixed(6)));
const row = (...cells: (string | number)[]): string =>
  `| ${cells.map((cell) => (typeof cell === "number" ? shown(cell) : cell)).join(" | ")} |`;

const REWARDS = [1, 0, 0, 0.5];
const DEFAULTS: PolicyLossOptions = {
  policy_loss: "clip",
  clip_low: 0.2,
  clip_high: 0.2,
  minirl_epsilon_high: 0.1,
  minirl_cap: 4,
};

/** Returns the loss and slope at one token, old log-probability -1. */
function surrogate(options: Partial<PolicyLossOptions>, ratio: number, advantage: number, age = 0): [number, number] {
  const { loss, gradient } = policyLosses(
    { logprobs: [-1 + Math.log(ratio)], old: [-1], weights: [1], advantage, age },
    { ...DEFAULTS, ...options },
  );
  return [loss[0] as number, gradient[0] as number];
}

const advantages = (["group_mean", "leave_one_out"] as const).flatMap((baseline) =>
  (["none", "group_std", "batch_std"] as const).map((scale) =>
    row(
      `\`${baseline}\``,
      `\`${scale}\``,
      (groupAdvantages([REWARDS, [1, 1]], baseline, scale)[0] as number[]).map(shown).join(", "),
    ),
  ),
);
const surrogates = (
  [
    ["`clip`", {}],
    ["`clip`, `clip_high: 0.28`", { clip_high: 0.28 }],
    ["`clip`, `dual_clip: 3`", { dual_clip: 3 }],
    ["`cispo`, `clip_high: 4`", { policy_loss: "cispo", clip_high: 4 }],
    ["`minirl`", { policy_loss: "minirl" }],
  ] as const
).flatMap(([name, options]) =>
  [
    [0.5, 1],
    [1.25, 1],
    [6, 1],
    [0.5, -1],
    [6, -1],
  ].map(([ratio, advantage]) =>
    row(name, ratio as number, advantage as number, ...surrogate(options, ratio as number, advantage as number)),
  ),
);
const aged = [0, 1, 3].map((age) =>
  row(age, ...[1.5, 2.5].map((ratio) => surrogate({ policy_loss: "minirl" }, ratio, 1, age)[1])),
);
const estimators = (["k1", "k2", "k3"] as const).flatMap((kind) => {
  const [plain, weighed] = [klEstimate(kind, -1, -1.5), weightedKl(kind, -1, -1.5, -1 - Math.log(2))];
  return [row(`\`${kind}\``, plain.value, plain.slope, weighed.value, weighed.slope)];
});
const weights = (["none", "truncate", "mask"] as const).map((kind) =>
  row(
    kind === "mask" ? "`mask`, `drop`" : `\`${kind}\``,
    ...[0.25, 1.5, 3].map((m) => mismatchWeight(kind, 2, Math.log(m) - 1, -1)),
  ),
);
const penalties = row("penalty", ...[6, 8, 9, 10].map((tokens) => overlongPenalty(tokens, 10, 4, 1)));

test.each([
  ["advantages", advantages],
  ["surrogates", surrogates],
  ["minirl by age", aged],
  ["divergence", estimators],
  ["mismatch", weights],
  ["length", [penalties]],
])("numerics 5, 8: docs/reference/algorithms.md has the golden numbers of %s", (_, rows) => {
  for (const each of rows) expect(reference).toContain(each);
});

test("gspo: one ratio for the whole episode", () => {
  const { loss, gradient } = policyLosses(
    { logprobs: [-1, -0.6], old: [-1, -1], weights: [0.5, 0.5], advantage: 1, age: 0 },
    { ...DEFAULTS, policy_loss: "gspo", clip_high: 0.5 },
  );
  expect(reference).toContain(row("`gspo`", loss[0] as number, gradient[0] as number, gradient[1] as number));
});
