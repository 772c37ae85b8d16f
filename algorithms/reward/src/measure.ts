import { type Mean, meanOf, type Metrics } from "@mrlm/kit/learning";
import { type Example, termsOf } from "./example.ts";
import { pairLoss, type ScoreLoss, sigmoid, stepLoss } from "./losses.ts";

/** Example with its scores. */
export interface Scored {
  readonly example: Example;
  readonly scores: readonly number[];
  readonly loss: number;
}

/** Returns the loss of an example, a sum over its terms. */
export function exampleLoss(example: Example, scores: readonly number[], center: number): ScoreLoss {
  return example.kind === "pair"
    ? pairLoss(scores as [number, number], example.margin, center)
    : stepLoss(scores, example.labels);
}

/** Prediction of one comparison or one step. */
interface Prediction {
  /** Probability that the model gives its own answer, from 0.5 to 1. */
  readonly confidence: number;
  readonly isRight: boolean;
}

/** Returns the metrics of examples with their scores; the names begin with the prefix. */
export function scoreMetrics(scored: readonly Scored[], prefix = ""): Metrics {
  const terms = scored.reduce((sum, { example }) => sum + termsOf(example), 0);
  const mean = (read: (each: Scored) => number[]): Mean => meanOf(scored.flatMap(read));
  const ofPair = (read: (chosen: number, rejected: number) => number): Mean =>
    mean(({ scores: [chosen, rejected] }) => [read(chosen as number, rejected as number)]);
  const isPairs = scored[0]?.example.kind === "pair";
  const named = (metrics: Metrics): Metrics =>
    Object.fromEntries(Object.entries(metrics).map(([name, value]) => [`${prefix}${name}`, value]));
  return named({
    "loss/reward": { sum: scored.reduce((sum, { loss }) => sum + loss, 0), count: terms },
    ...(isPairs
      ? {
          "preference/accuracy": ofPair((chosen, rejected) => Number(chosen > rejected)),
          "preference/margin": ofPair((chosen, rejected) => chosen - rejected),
          "score/chosen": ofPair((chosen) => chosen),
          "score/rejected": ofPair((_, rejected) => rejected),
        }
      : {
          "steps/accuracy": meanOf(scored.flatMap(predictions).map(({ isRight }) => Number(isRight))),
          "score/right": mean(({ scores, example }) => scores.filter((_, k) => labelOf(example, k) >= 0.5)),
          "score/wrong": mean(({ scores, example }) => scores.filter((_, k) => labelOf(example, k) < 0.5)),
        }),
  });
}

/** Number of the bins of `calibrationError`. */
const BINS = 10;

/**
 * Returns the expected calibration error (arXiv 1706.04599) over bins of equal width from 0.5 to 1: the mean distance of the confidence and the share of right
 * predictions in a bin, weighted by its predictions. 0 is calibrated.
 */
export function calibrationError(scored: readonly Scored[]): number {
  const found = scored.flatMap(predictions);
  const bins = Map.groupBy(found, ({ confidence }) => Math.min(BINS - 1, Math.floor((confidence - 0.5) * 2 * BINS)));
  const distances = Array.from(bins.values(), (bin) =>
    Math.abs(bin.reduce((sum, { confidence, isRight }) => sum + confidence - Number(isRight), 0)),
  );
  return distances.reduce((sum, distance) => sum + distance, 0) / Math.max(1, found.length);
}

function predictions({ example, scores }: Scored): Prediction[] {
  if (example.kind === "pair") {
    const difference = (scores[0] as number) - (scores[1] as number);
    return [{ confidence: sigmoid(Math.abs(difference)), isRight: difference > 0 }];
  }
  return scores.map((score, k) => ({
    confidence: sigmoid(Math.abs(score)),
    isRight: score > 0 === labelOf(example, k) >= 0.5,
  }));
}

function labelOf(example: Example, k: number): number {
  return example.kind === "steps" ? (example.labels[k] as number) : 0;
}
