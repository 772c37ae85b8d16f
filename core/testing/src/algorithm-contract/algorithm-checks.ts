import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AlgorithmDefinition, type AlgorithmExamples, type JsonObject, type Metrics, MrlmError } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import { Defect } from "../check/defect.ts";
import { serialise } from "../contract/serialise.ts";
import { recordingEngine } from "../training/recording-engine.ts";
import {
  type BigramOutcome,
  type BigramTraining,
  trainBigram,
  trainBigramInterrupted,
} from "../training/train-bigram.ts";

// Each algorithm has options of another type.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyAlgorithm = AlgorithmDefinition<any>;

/** Algorithm under check. */
export interface AlgorithmSubject {
  readonly algorithm: AnyAlgorithm;
  readonly examples: AlgorithmExamples;
  /** Returns the run of the example, which is trained at the first call, and its number of optimizer steps. */
  trained(): Promise<{ readonly outcome: BigramOutcome; readonly optimizerSteps: number }>;
}

/** Checks of an algorithm on a {@link BigramEngine}: options, reports, learning, equal runs, resumed runs. */
export const algorithmChecks: readonly Check<AlgorithmSubject>[] = [
  {
    code: "ALGORITHM_OPTIONS_ACCEPTED",
    name: "refuses unknown options, values of another type, and the invalid options of the examples",
    run: async ({ algorithm, examples: { options, invalid = [] } }) => {
      const validate = async (given: JsonObject): Promise<boolean> =>
        (await algorithm.options["~standard"].validate(given)).issues === undefined;
      if (!(await validate(options)))
        throw new Defect("EXAMPLES_INVALID", `${algorithm.id} refuses the options of its example.`);
      const wrong = [
        { ...options, "no-such-option": 1 },
        ...Object.keys(options).map((key) => ({ ...options, [key]: { wrong: true } })),
      ];
      for (const given of wrong) assert(!(await validate(given)), `The schema accepts ${JSON.stringify(given)}.`);
      for (const given of invalid) {
        const failure: unknown = await inFolder(algorithm, { ...options, ...given }, trainBigram).then(
          () => undefined,
          (error: unknown) => error,
        );
        assert(
          MrlmError.hasCode(failure, "CONFIG_INVALID"),
          `The options ${JSON.stringify(given)} of the examples are not refused with CONFIG_INVALID: ${failure === undefined ? "they train" : String(failure)}.`,
        );
      }
    },
  },
  {
    code: "ALGORITHM_REPORT_INVALID",
    name: "reports each iteration, with finite metrics",
    quick: false,
    gate: true,
    run: async ({ algorithm, examples: { options }, trained }) => {
      const { reports } = (await trained()).outcome;
      const parsed = await algorithm.options["~standard"].validate(options);
      const expected = parsed.issues === undefined ? algorithm.iterations(parsed.value) : 0;
      assert.deepEqual(
        reports.map(({ iteration }) => iteration),
        Array.from({ length: expected }, (_, i) => i + 1),
        `\`iterations\` returns ${expected}, and the reports have other numbers.`,
      );
      for (const { iteration, metrics } of reports)
        for (const [name, metric] of Object.entries(metrics))
          assert(
            (typeof metric === "number" ? [metric] : Object.values(metric)).every((value) => Number.isFinite(value)),
            `In iteration ${iteration}, metric ${name} is ${JSON.stringify(metric)}.`,
          );
    },
  },
  {
    code: "ALGORITHM_LEARNS_NOT",
    name: "learns: the metric of the example changes as stated",
    quick: false,
    run: async ({ examples: { metric: name = "reward/mean", change = 0.1 }, trained }) => {
      const series = (await trained()).outcome.reports.flatMap(({ metrics }) => valueOf(metrics[name]) ?? []);
      const [first, last] = [series[0], series.at(-1)];
      if (first === undefined || last === undefined)
        throw new Defect("EXAMPLES_INVALID", `No report has the metric ${name} of the example.`);
      const changed = last - first;
      assert(
        change < 0 ? changed <= change : changed >= change,
        `${name} changes from ${first.toFixed(3)} to ${last.toFixed(3)} in ${series.length} iterations; the example states at least ${change}.`,
      );
    },
  },
  {
    code: "ALGORITHM_RESUME_DIFFERS",
    name: "ends with the same weights and metrics with the same seed, interrupted and resumed",
    quick: false,
    run: async ({ algorithm, examples: { options }, trained }) => {
      const { outcome, optimizerSteps } = await trained();
      const dieAt = Math.floor(optimizerSteps / 2) + 1;
      const interrupted = (training: BigramTraining): Promise<BigramOutcome> => trainBigramInterrupted(training, dieAt);
      const resumed = firstDifference(await inFolder(algorithm, options, interrupted), outcome);
      if (resumed === undefined) return;
      const again = firstDifference(await inFolder(algorithm, options, trainBigram), outcome);
      if (again !== undefined) throw new Defect("RESULT_UNSTABLE", `Two runs with the same seed: ${again}.`);
      assert.fail(`Interrupted at optimizer step ${dieAt} of ${optimizerSteps} and resumed: ${resumed}.`);
    },
  },
];

/** Describes the first difference of a run from another, from the iteration on with which its reports begin; `undefined` if there is none. */
function firstDifference(run: BigramOutcome, other: BigramOutcome): string | undefined {
  for (const { iteration, metrics } of run.reports) {
    const others = other.reports[iteration - 1]?.metrics ?? {};
    const name = Object.keys({ ...metrics, ...others }).find(
      (each) => serialise(metrics[each] ?? null) !== serialise(others[each] ?? null),
    );
    if (name !== undefined)
      return `in iteration ${iteration}, ${name} is ${JSON.stringify(metrics[name])}, not ${JSON.stringify(others[name])}`;
  }
  return run.weights.equals(other.weights) ? undefined : "the weights differ at the end";
}

export function algorithmSubject(algorithm: AnyAlgorithm, examples: AlgorithmExamples): AlgorithmSubject {
  const train = async (): ReturnType<AlgorithmSubject["trained"]> => {
    const { engine, asked } = recordingEngine();
    const outcome = await inFolder(algorithm, examples.options, (training) => trainBigram({ ...training, engine }));
    return { outcome, optimizerSteps: asked.steps.length };
  };
  let made: ReturnType<typeof train> | undefined;
  return { algorithm, examples, trained: () => (made ??= train()) };
}

/** Trains the algorithm in a temporary folder, and removes the files of the run. */
async function inFolder<T>(
  algorithm: AnyAlgorithm,
  options: JsonObject,
  train: (training: BigramTraining) => Promise<T>,
): Promise<T> {
  const output = await mkdtemp(join(tmpdir(), "mrlm-bigram-run-"));
  try {
    const stages = [{ algorithm: algorithm.id, ...options }];
    return await train({ algorithms: [algorithm], stages, config: { output } });
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

function valueOf(metric: Metrics[string] | undefined): number | undefined {
  if (metric === undefined || typeof metric === "number") return metric;
  return metric.count === 0 ? undefined : metric.sum / metric.count;
}
