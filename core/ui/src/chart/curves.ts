/** Line of a chart. */
export interface Line {
  readonly label: string;
  readonly xs: readonly number[];
  readonly values: readonly number[];
  /** Bounds of the confidence interval of each value. */
  readonly low?: readonly number[] | undefined;
  readonly high?: readonly number[] | undefined;
}

/** Mark across a chart: the begin of a stage. */
export interface Mark {
  readonly at: number;
  readonly label: string;
}

/** Chart of lines over one axis. */
export interface Curves {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly xLabel: string;
  readonly unit?: string | undefined;
  /** Weight of earlier values in the exponential moving average, from 0 (none) to below 1. */
  readonly smoothing: number;
  readonly isLog: boolean;
  readonly marks?: readonly Mark[];
}

/** Colours of Okabe and Ito (2008), which colour-blind people can distinguish; dashes repeat with them. */
export const COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7A6C00", "#777777"];
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3]];

/** Returns colour and dashes of the line at this position. */
export function strokeOf(position: number): { readonly colour: string; readonly dashes: readonly number[] } {
  return {
    colour: COLOURS[position % COLOURS.length] as string,
    dashes: DASHES[Math.floor(position / COLOURS.length) % DASHES.length] as readonly number[],
  };
}

/** Exponential moving average, without the weight of its start (Kingma and Ba, 2015, section 3). */
export function smoothed(values: readonly number[], by: number): number[] {
  if (by === 0) return Array.from(values);
  let [sum, weight] = [0, 0];
  return values.map((value) => {
    sum = by * sum + (1 - by) * value;
    weight = by * weight + (1 - by);
    return sum / weight;
  });
}

/** Returns the range of an axis: a constant is in its middle. */
export function rangeOf(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null) return [0, 1];
  const margin = least === most ? Math.abs(least) / 2 || 1 : (most - least) / 20;
  return [least - margin, most + margin];
}
