import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { preferenceLoss, type PreferenceLossOptions } from "../src/losses/index.ts";

const reference = readFileSync(new URL("../../../docs/reference/algorithms.md", import.meta.url), "utf8");
const DEFAULTS: PreferenceLossOptions = {
  loss: "sigmoid",
  beta: 0.5,
  label_smoothing: 0,
  simpo_margin: 0.5,
  kto_desirable_weight: 1,
  kto_undesirable_weight: 1,
  nll_coefficient: 0,
};

test.each<[string, Partial<PreferenceLossOptions>]>([
  ["`sigmoid`", {}],
  ["`sigmoid`, `label_smoothing: 0.1` (cDPO)", { label_smoothing: 0.1 }],
  ["`sigmoid`, `nll_coefficient: 1`", { nll_coefficient: 1 }],
  ["`hinge`", { loss: "hinge" }],
  ["`ipo`", { loss: "ipo" }],
  ["`simpo`", { loss: "simpo" }],
  ["`orpo`", { loss: "orpo" }],
  ["`kto`, z = 0.2", { loss: "kto" }],
])("docs/reference/algorithms.md has the golden numbers of %s", (name, options) => {
  const { loss, chosenSlope, rejectedSlope } = preferenceLoss(
    { policy: -3, reference: -4, tokens: 2 },
    { policy: -6, reference: -5.5, tokens: 4 },
    { ...DEFAULTS, ...options },
    0.2,
  );
  expect(reference).toContain(
    `| ${name} | ${[loss, chosenSlope, rejectedSlope].map((value) => Number(value.toFixed(6))).join(" | ")} |`,
  );
});
