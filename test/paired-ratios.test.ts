import { expect, test } from "@jest/globals";
import { compare, kindOf } from "../benchmarks/ab/paired-ratios.ts";

test("a figure is a cost or a rate by its unit", () => {
  expect(["take_p99_ms", "grpo_64_ours_cpu_s", "live_rss_mib", "store_cpu_ms_per_step_short"].map(kindOf)).toEqual([
    ...["cost", "cost", "cost", "cost"],
  ]);
  expect(["python_per_s", "steps_per_second", "steps_per_s_64"].map(kindOf)).toEqual(["rate", "rate", "rate"]);
  expect(["wire_share", "cpu_ratio_vs_trl", "episodes_short"].map(kindOf)).toEqual([undefined, undefined, undefined]);
});

test("the interval of ten pairs leaves out the smallest and the largest ratio, that of five leaves out none", () => {
  const ten = [1.3, 0.8, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08].map((ratio): readonly [number, number] => [
    2,
    2 * ratio,
  ]);
  const { median, lower, upper } = compare("cost", ten);
  expect([median, lower, upper].map((value) => value.toFixed(3))).toEqual(["1.045", "1.010", "1.080"]);
  expect(compare("rate", ten.slice(0, 5))).toMatchObject({ lower: 1 / 1.3, upper: 1 / 0.8 });
});
