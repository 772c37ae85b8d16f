/** Figures of a list of judged pairs. */
import type { Pair } from "./pairs.ts";

export interface Judged {
  readonly pair: Pair;
  readonly equivalent: boolean;
  readonly seconds: number;
}

export interface Figures {
  readonly pairs: number;
  readonly pairs_per_s: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly max_ms: number;
  /** Different pairs that were accepted. */
  readonly false_positives: number;
  /** Equivalent pairs that were not accepted. */
  readonly false_negatives: number;
}

export function figuresOf(judged: readonly Judged[]): Figures {
  const times = judged.map(({ seconds }) => seconds * 1000).sort((a, b) => a - b);
  const at = (share: number): number => round(times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0);
  const total = times.reduce((sum, time) => sum + time, 0) / 1000;
  return {
    pairs: judged.length,
    pairs_per_s: round(judged.length / total),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
    false_positives: judged.filter(({ pair, equivalent }) => equivalent && !pair.equivalent).length,
    false_negatives: judged.filter(({ pair, equivalent }) => !equivalent && pair.equivalent).length,
  };
}

export interface ClassFigures {
  readonly class: string;
  readonly pairs: number;
  /** Pairs on which both verifiers give the same verdict. */
  readonly agree: number;
  /** Numbers of pairs with different verdicts: those that this repository's verifier decides correctly, and those that Math-Verify decides correctly. */
  readonly mrlm_right: number;
  readonly math_verify_right: number;
  readonly false_positives: number;
  readonly false_negatives: number;
  readonly math_verify_false_positives: number;
  readonly math_verify_false_negatives: number;
}

/** Returns the agreement of two verifiers on the same pairs, by class. */
export function classesOf(ours: readonly Judged[], theirs: readonly Judged[]): readonly ClassFigures[] {
  const kinds = [...new Set(ours.map(({ pair }) => pair.kind ?? "example"))];
  return kinds.map((kind) => {
    const at = ours.flatMap(({ pair }, i) => ((pair.kind ?? "example") === kind ? [i] : []));
    const [left, right] = [ours, theirs].map((judged) => at.map((i) => judged[i] as Judged)) as [Judged[], Judged[]];
    const isRight = ({ pair, equivalent }: Judged): boolean => equivalent === pair.equivalent;
    const differ = at.map((_, i) => i).filter((i) => left[i]?.equivalent !== right[i]?.equivalent);
    const [a, b] = [figuresOf(left), figuresOf(right)];
    return {
      class: kind,
      pairs: at.length,
      agree: at.length - differ.length,
      mrlm_right: differ.filter((i) => isRight(left[i] as Judged)).length,
      math_verify_right: differ.filter((i) => isRight(right[i] as Judged)).length,
      false_positives: a.false_positives,
      false_negatives: a.false_negatives,
      math_verify_false_positives: b.false_positives,
      math_verify_false_negatives: b.false_negatives,
    };
  });
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}
