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

function round(value: number): number {
  return Number(value.toPrecision(3));
}
