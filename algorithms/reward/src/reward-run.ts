import {
  type AlgorithmContext,
  type AlgorithmRun,
  epochOrder,
  type IterationReport,
  type JsonObject,
  type Metrics,
  trainStep,
} from "@mrlm/kit/learning";
import { readExamples } from "./data.ts";
import { type Example, termsOf } from "./example.ts";
import { calibrationError, exampleLoss, type Scored, scoreMetrics } from "./measure.ts";
import type { RewardOptions } from "./options.ts";

/** Starts training of a reward model: the model of the stage with its value head, whose values are the scores. */
export async function startReward(context: AlgorithmContext, options: RewardOptions): Promise<AlgorithmRun> {
  const examples = await readExamples(context, options.data, options);
  const heldout = options.heldout === undefined ? [] : await readExamples(context, options.heldout, options);
  const order = epochOrder(examples.length, "reward/order", context.seed);
  let step = 0;

  async function iterate(): Promise<IterationReport> {
    const began = performance.now();
    const batch = order.take(options.batch_size).map((index) => examples[index] as Example);
    const scored: Scored[] = [];
    const { pass, metrics, notices } = await trainStep(context, {
      model: context.policy,
      units: batch.map(({ unit }) => unit),
      outputs: { value: true },
      normalizer: batch.reduce((sum, example) => sum + termsOf(example), 0),
      loss(unit, { value }) {
        const example = batch[unit] as Example;
        const scores = Array.from(value);
        const { loss, slopes } = exampleLoss(example, scores, options.center_coefficient);
        scored[unit] = { example, scores, loss };
        return { value: Float32Array.from(slopes) };
      },
      optimizer: options,
      step: step + 1,
      totalSteps: options.steps,
    });
    step++;
    const trained = performance.now();
    const isMeasured = heldout.length > 0 && (step % options.heldout_every === 0 || step === options.steps);
    return {
      iteration: step,
      metrics: {
        ...scoreMetrics(scored),
        ...(isMeasured ? await measure() : {}),
        ...metrics,
        "tokens/computed": pass.computedTokens,
        "data/examples": examples.length,
        "data/epoch": order.position() / examples.length,
      },
      seconds: { training: (trained - began) / 1000, evaluation: (performance.now() - trained) / 1000 },
      notices,
    };
  }

  /** Measures the present weights on the held-out examples. */
  async function measure(): Promise<Metrics> {
    const outputs = await context.engine.forward({
      model: context.policy,
      units: heldout.map(({ unit }) => unit),
      outputs: { value: true },
      signal: context.signal,
    });
    const scored = heldout.map((example, i): Scored => {
      const scores = Array.from(outputs[i]?.value ?? []);
      return { example, scores, loss: exampleLoss(example, scores, 0).loss };
    });
    return { ...scoreMetrics(scored, "heldout/"), "heldout/calibration_error": calibrationError(scored) };
  }

  return {
    async *run() {
      while (step < options.steps && !context.signal.aborted) yield await iterate();
    },
    state: (): JsonObject => ({ step, position: order.position() }),
    restore(state) {
      step = Number(state["step"]);
      order.seek(Number(state["position"]));
    },
  };
}
