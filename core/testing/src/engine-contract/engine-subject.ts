import assert from "node:assert/strict";
import type { EngineSequence, EngineUnit, OutputSelection, UnitGradients, UnitOutputs } from "@mrlm/spec";
import type { CreateModelOptions, Engine } from "@mrlm/spec/host";

/** Engine under test, with its tolerance. */
export interface EngineSubject {
  readonly engine: Engine;
  /** Small trainable policy with a value head and a vocabulary of at least 8 tokens. */
  readonly model: CreateModelOptions;
  /** Largest difference of log-probabilities that are computed in two ways. */
  readonly tolerance: number;
}

/** Test that every engine must pass. */
export interface EngineCheck {
  readonly name: string;
  run(subject: EngineSubject): Promise<void>;
}

export const ALL_OUTPUTS: OutputSelection = { logprob: true, entropy: true, value: true };

/** Returns the units of different shapes: one sequence, a pair, gaps in the mask, only the last token. */
export const UNITS: readonly EngineUnit[] = [
  { sequences: [sequence([1, 2, 3, 4, 5, 6], [0, 0, 1, 1, 0, 1]), sequence([7, 1], [0, 1])] },
  { sequences: [sequence([3, 3, 3], [0, 1, 1])] },
  { sequences: [sequence([5, 0, 2, 6, 1, 1, 4, 7, 2], [0, 0, 0, 0, 0, 0, 0, 0, 1])] },
];

function sequence(tokens: readonly number[], mask: readonly number[]): EngineSequence {
  return { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) };
}

/** Returns the loss with a different curvature in every output. */
export function lossOf(unit: number, { logprob = EMPTY, entropy = EMPTY, value = EMPTY }: UnitOutputs): number {
  const sum = (numbers: Float32Array, f: (x: number) => number): number =>
    numbers.reduce((total, x) => total + f(x), 0);
  return (unit + 1) * (sum(logprob, (x) => x * x) + sum(entropy, Math.sin) + sum(value, (x) => (x - 1) ** 2));
}

/** Returns the derivative of the loss. */
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

/** Returns the relative difference of two norms. */
const NORM_TOLERANCE = 1e-4;

const EMPTY = new Float32Array(0);

/** Returns the norm of the gradient of a pass, with a step of rate 0, so that the weights do not change. */
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

/** Asserts that one norm is `ratio` times another, up to rounding. */
export function assertRatio(found: number, base: number, ratio: number, what: string): void {
  assert(Math.abs(found / (base * ratio) - 1) < NORM_TOLERANCE, `${what}: ${found}, but ${base * ratio} was expected.`);
}
