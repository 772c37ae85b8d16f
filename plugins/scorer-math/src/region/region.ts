/** Subsets of the real line made of intervals and points, and their equality. */
import type { Node } from "../tree/node.ts";

/** An end of an interval: the exact expression and a double close to it. */
export type End = { readonly node: Node; readonly approx: number };

export type Region =
  | {
      readonly kind: "interval";
      readonly low?: End;
      readonly high?: End;
      readonly lowClosed: boolean;
      readonly highClosed: boolean;
    }
  | { readonly kind: "union" | "intersection"; readonly parts: readonly Region[] }
  | { readonly kind: "complement"; readonly of: Region };

export const LINE: Region = { kind: "interval", lowClosed: false, highClosed: false };
export const NOTHING: Region = { kind: "union", parts: [] };

export function pointRegion(end: End): Region {
  return { kind: "interval", low: end, high: end, lowClosed: true, highClosed: true };
}

export function complement(of: Region): Region {
  return { kind: "complement", of };
}

/** Returns all ends that occur in a region. */
export function endsOf(region: Region): readonly End[] {
  switch (region.kind) {
    case "interval":
      return [region.low, region.high].filter((end) => end !== undefined);
    case "complement":
      return endsOf(region.of);
    default:
      return region.parts.flatMap(endsOf);
  }
}

/** Whether two ends are the same number, given that their doubles are close. */
export type SameEnd = (a: End, b: End) => boolean;

/** Orders the ends of several regions on one line. Position 2k + 1 is the k-th end; even positions are the gaps. */
export class Line {
  readonly #positions = new Map<End, number>();
  readonly length: number;

  constructor(ends: readonly End[], isSame: SameEnd) {
    const sorted = [...ends].sort((a, b) => a.approx - b.approx);
    const distinct: End[] = [];
    for (const end of sorted) {
      const last = distinct.at(-1);
      const isClose =
        last !== undefined && Math.abs(last.approx - end.approx) <= 1e-9 * Math.max(1, Math.abs(end.approx));
      if (!(isClose && isSame(last, end))) distinct.push(end);
      this.#positions.set(end, 2 * distinct.length - 1);
    }
    this.length = 2 * distinct.length + 1;
  }

  contains(region: Region, position: number): boolean {
    switch (region.kind) {
      case "complement":
        return !this.contains(region.of, position);
      case "union":
        return region.parts.some((part) => this.contains(part, position));
      case "intersection":
        return region.parts.every((part) => this.contains(part, position));
      default: {
        const low = region.low ? (this.#positions.get(region.low) as number) : -1;
        const high = region.high ? (this.#positions.get(region.high) as number) : this.length;
        return (
          (position > low || (region.lowClosed && position === low)) &&
          (position < high || (region.highClosed && position === high))
        );
      }
    }
  }
}

/** Whether two regions contain the same numbers. */
export function sameRegion(a: Region, b: Region, isSame: SameEnd): boolean {
  const line = new Line([...endsOf(a), ...endsOf(b)], isSame);
  for (let position = 0; position < line.length; position++)
    if (line.contains(a, position) !== line.contains(b, position)) return false;
  return true;
}

export function isEmpty(region: Region, isSame: SameEnd): boolean {
  return sameRegion(region, NOTHING, isSame);
}
