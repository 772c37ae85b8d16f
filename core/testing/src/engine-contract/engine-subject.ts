import assert from "node:assert/strict";
import type {
  CreateModelOptions,
  Engine,
  EngineSequence,
  EngineUnit,
  OutputSelection,
  UnitGradients,
  UnitOutputs,
} from "@mrlm/spec";

/** An engine under test, and how close its numbers must come. */
export interface EngineSubject {
  readonly engine: Engine;
  /** A small trainable policy with a value head and a vocabulary of at least 8 tokens. */
  readonly model: CreateModelOptions;
  /** Largest difference of log-probabilities that are computed in two ways. */
  readonly tolerance: number;
}

/** One thing that every engine must do. */
export interface EngineCheck {
  readonly name: string;
  run(subject: EngineSubject): Promise<void>;
}

export const ALL_OUTPUTS: OutputSelection = { logprob: true, entropy: true, value: true };

/** Units of different shapes: one sequence, a pair, gaps in the mask, the last token only. */
export const UNITS: readonly EngineUnit[] = [
  { sequences: [sequence([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 1]), sequence([7, 1], [0, 1])] },
  { sequences: [sequence([3, 3, 3], [0, 1, 1])] },
  { sequences: [sequence([5, 0, 2, 6, 1, 1, 4, 7, 2], [0, 0, 0, 0, 0, 0, 0, 0, 1])] },
];

function sequence(tokens: readonly number[], mask: readonly number[]): EngineSequence {
  return { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) };
}

/** A loss with a curvature of its own in every output. */
export function lossOf(unit: number, { logprob = EMPTY, entropy = EMPTY, value = EMPTY }: UnitOutputs): number {
  const sum = (numbers: Float32Array, f: (x: number) => number): number =>
    numbers.reduce((total, x) => total + f(x), 0);
  return (unit + 1) * (sum(logprob, (x) => x * x) + sum(entropy, Math.sin) + sum(value, (x) => (x - 1) ** 2));
}

/** Its derivative. */
export function gradientOf(
  unit: number,
  { logprob = EMPTY, entropy = EMPTY, value = EMPTY }: UnitOutputs,
): UnitGradients {
  return {
    logprob: logprob.map((x) => (unit + 1) * 2 * x),
    entropy: entropy.map((x) => (unit + 1) * Math.cos(x)),
    value: value.map((x) => (unit + 1) * 2 * (x - 1)),
  };
}

/** Relative difference of two norms that ought to be the same. */
const NORM_TOLERANCE = 1e-4;

const EMPTY = new Float32Array(0);

/** The norm of what a pass accumulates; the weights stay as they are. */
export async function normOf(
  engine: Engine,
  model: string,
  pass: {
    readonly units?: readonly EngineUnit[];
    readonly normalizer?: number;
    readonly loss?: readonly UnitGradients[];
  } = {},
): Promise<number> {
  const { units = UNITS, normalizer = 1, loss = gradientOf } = pass;
  await engine.forwardBackward({ model, units, outputs: ALL_OUTPUTS, normalizer, loss });
  return (await engine.optimStep({ model, learningRate: 0 })).gradNorm;
}

/** Fails unless a norm is `ratio` times another, but for rounding. */
export function assertRatio(found: number, base: number, ratio: number, what: string): void {
  assert(
    Math.abs(found / (base * ratio) - 1) < NORM_TOLERANCE,
    `${what}: ${found}, but ${base * ratio} was to be expected.`,
  );
}
