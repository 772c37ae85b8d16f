import { defined } from "@mrlm/kit";
import type { AnswerPair, Credit, EngineSequence, EngineUnit, JsonObject, UnitOutputs } from "@mrlm/kit/learning";

/** Two answers to one prompt, or a single judged answer. An episode whose template rewrote its history has several sequences. */
export interface Pair extends AnswerPair {
  /** Parts of episodes that the answers are, where they were played. */
  readonly parts?: { readonly chosen?: EpisodePart; readonly rejected?: EpisodePart };
}

/** Part of an agent in an episode. */
export type EpisodePart = Pick<Credit, "trajectory" | "agent">;

/** Sums of the log-probabilities of both answers, in nats. */
export interface PairSums {
  readonly chosen: number;
  readonly rejected: number;
}

/** Returns one unit of both answers, because a unit is never split between micro-batches. */
export function unitOf({ chosen, rejected }: Pair): EngineUnit {
  return { sequences: [...chosen, ...rejected] };
}

/** Returns the number of tokens of an answer in the loss. */
export function answerTokens(sequences: readonly EngineSequence[]): number {
  return sequences.reduce((sum, { mask }) => mask.reduce((total, chosen) => total + chosen, sum), 0);
}

/** Whether an answer was cut: its last token is no stop token. */
export function isUnfinished(sequences: readonly EngineSequence[], stopTokenIds: readonly number[]): boolean {
  const last = sequences.at(-1);
  return last === undefined || !stopTokenIds.includes(last.tokens[last.mask.lastIndexOf(1)] as number);
}

/** Sums the log-probabilities of both answers in the outputs of the pair's unit. */
export function pairSums(pair: Pair, { logprob = new Float32Array() }: UnitOutputs): PairSums {
  const boundary = answerTokens(pair.chosen);
  const sum = (values: Float32Array): number => values.reduce((total, value) => total + value, 0);
  return { chosen: sum(logprob.subarray(0, boundary)), rejected: sum(logprob.subarray(boundary)) };
}

/** Returns the credits of a pair: the gradient weighs the log-probabilities of an answer by the negative derivative of the loss. */
export function pairCredits({ parts }: Pair, chosenSlope: number, rejectedSlope: number): Credit[] {
  if (parts === undefined) return [];
  return [
    ...(parts.chosen === undefined ? [] : [{ ...parts.chosen, advantage: -chosenSlope }]),
    ...(parts.rejected === undefined ? [] : [{ ...parts.rejected, advantage: -rejectedSlope }]),
  ];
}

/** Converts a pair to its form in a checkpoint. */
export function pairToJson({ chosen, rejected, parts }: Pair): JsonObject {
  const write = (sequences: readonly EngineSequence[]) =>
    sequences.map(({ tokens, mask }) => ({ tokens: Array.from(tokens), mask: Array.from(mask) }));
  return { chosen: write(chosen), rejected: write(rejected), ...defined({ parts }) };
}

export function pairFromJson(value: JsonObject): Pair {
  const read = (sequences: unknown) =>
    (sequences as { tokens: number[]; mask: number[] }[]).map(({ tokens, mask }) => ({
      tokens: Int32Array.from(tokens),
      mask: Uint8Array.from(mask),
    }));
  const parts = value["parts"] === undefined ? {} : { parts: value["parts"] as unknown as NonNullable<Pair["parts"]> };
  return { chosen: read(value["chosen"]), rejected: read(value["rejected"]), ...parts };
}
