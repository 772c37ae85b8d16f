import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { type Event, ROOT, run } from "../e2e/support/mrlm.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { evaluationsOf, type Skill } from "./support/evaluations.ts";

type Values = Readonly<Record<string, number | undefined>>;

/** Result of a run of an example. */
interface Outcome {
  /** Metrics of each iteration, means as numbers. */
  readonly iterations: readonly Values[];
  readonly skills: readonly Skill[];
}

const last = (values: readonly number[], count: number): number =>
  values.slice(-count).reduce((sum, value) => sum + value, 0) / Math.min(count, values.length);
/** Returns a metric over the iterations that have it. */
const series = ({ iterations }: Outcome, name: string): number[] =>
  iterations.flatMap((metrics) => metrics[name] ?? []);

/** Examples that no other file of this folder trains to the end, with checks of their outcome. */
const OUTCOMES: readonly (readonly [path: string, claim: string, check: (outcome: Outcome) => void])[] = [
  [
    "preferences/preferences.yaml",
    "four chosen answers in five are preferred, by a margin",
    (outcome) => {
      expect(series(outcome, "loss/preference")[0]).toBeCloseTo(Math.LN2, 3);
      expect(last(series(outcome, "preference/accuracy"), 10)).toBeGreaterThanOrEqual(0.8);
      expect(last(series(outcome, "preference/margin"), 10)).toBeGreaterThanOrEqual(1);
    },
  ],
  [
    "preferences/orpo.yaml",
    "four chosen answers in five are preferred, and all become likelier",
    (outcome) => {
      expect(last(series(outcome, "preference/accuracy"), 10)).toBeGreaterThanOrEqual(0.8);
      expect(last(series(outcome, "preference/margin"), 10)).toBeGreaterThan(
        (series(outcome, "preference/margin")[0] as number) + 0.02,
      );
      expect(last(series(outcome, "logprob/chosen"), 10)).toBeGreaterThan(
        series(outcome, "logprob/chosen")[0] as number,
      );
    },
  ],
  [
    "preferences/kto.yaml",
    "the implicit rewards of desirable answers exceed those of undesirable ones by a margin",
    (outcome) => {
      expect(series(outcome, "preference/margin")[0]).toBeCloseTo(0, 3);
      expect(last(series(outcome, "preference/margin"), 10)).toBeGreaterThanOrEqual(1);
    },
  ],
  [
    "world-model/world-model.yaml",
    "the environment's answers are foreseen to 0.2 nats a token",
    (outcome) => {
      expect(series(outcome, "loss/nll_observed")[0]).toBeGreaterThan(2);
      expect(last(series(outcome, "loss/nll_observed"), 10)).toBeLessThan(0.2);
    },
  ],
  [
    "custom-algorithm/best-of-n.yaml",
    "greedy accuracy of 0.9, which best-of-n adds 0.2 to",
    ({ skills: [, warm, trained] }) => {
      expect(trained?.greedy).toBeGreaterThanOrEqual(0.9);
      expect((trained?.greedy as number) - (warm?.greedy as number)).toBeGreaterThanOrEqual(0.2);
    },
  ],
  [
    "several-environments/mixed.yaml",
    "the sampled reward rises in both environments, and sorting reaches a greedy accuracy of 0.9",
    ({ skills }) => {
      const [startOne, startOther, , , endOne, endOther] = skills as [Skill, Skill, Skill, Skill, Skill, Skill];
      expect(endOne.greedy).toBeGreaterThanOrEqual(0.9);
      expect(endOne.sampled).toBeGreaterThan(startOne.sampled);
      expect(endOther.sampled).toBeGreaterThan(startOther.sampled);
    },
  ],
  [
    "code/code.yaml",
    "the loss of reference solutions halves, and every submission has a verdict",
    (outcome) => {
      const losses = series(outcome, "loss/nll");
      expect(losses.at(-1)).toBeLessThan((losses[0] as number) / 2);
      for (const name of ["episodes/failed", "episodes/unscored"]) expect(Math.max(...series(outcome, name))).toBe(0);
    },
  ],
  [
    "distributed/distributed.yaml",
    "two processes train one model: the loss falls",
    (outcome) => {
      const losses = series(outcome, "loss/nll");
      expect(losses.at(-1)).toBeLessThan((losses[0] as number) - 0.3);
      expect(series(outcome, "reward/mean")).toHaveLength(2);
    },
  ],
];

describeWithEngine("each example comes to what it claims (skipped where `npm run setup` has not run)", () => {
  const output = temporaryDirectory();

  test.each(OUTCOMES)(
    "%s: %s",
    async (path, _claim, check) => {
      const began = performance.now();
      const { code, events, stderr } = await run([
        "train",
        "--json",
        "--config",
        join("examples", path),
        "--output",
        output,
      ]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
      const outcome: Outcome = {
        iterations: events.filter(({ event }) => event === "iteration").map(valuesOf),
        skills: evaluationsOf(events),
      };
      const shown = outcome.skills.map(
        ({ label, environment, greedy, sampled }) =>
          `${label} ${environment} ${greedy.toFixed(2)} (sampled ${sampled.toFixed(2)})`,
      );
      console.info(
        `${path}: ${[...shown, `${((performance.now() - began) / 1000).toFixed(0)} s`].join(", ")}; last iteration`,
        outcome.iterations.at(-1),
      );
      check(outcome);
    },
    1_200_000,
  );

  test("typescript/train.ts: more than half of the tasks are solved greedily", () => {
    const script = `const { job, train } = await import(${JSON.stringify(join(ROOT, "examples/typescript/train.ts"))});
      const { evaluations } = await train({ ...job, output: ${JSON.stringify(output)} });
      console.log(JSON.stringify(evaluations.at(-1).results[0].greedy.accuracy));`;
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: ROOT,
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    expect(Number(printed.trim().split("\n").at(-1))).toBeGreaterThan(0.5);
  }, 600_000);
});

/** Returns the metrics of an iteration; `--json` prints means as numbers. */
function valuesOf(event: Event): Values {
  return event["metrics"] as Values;
}
