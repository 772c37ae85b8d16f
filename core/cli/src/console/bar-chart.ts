import { hasUnicode } from "./unicode.ts";

const EIGHTHS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const HEIGHT = 5;
/** Widest column of one value. */
const MAX_CELL = 3;

/**
 * Draws a series as columns, with the lowest and the highest value at the axis. Averages neighbouring values if there are more than columns.
 * @param width of the columns alone, in characters
 */
export function barChart(values: readonly number[], width: number, label: (value: number) => string): string {
  const means = averaged(values, width);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const cell = Math.max(1, Math.min(MAX_CELL, Math.floor(width / means.length)));
  const unicode = hasUnicode();
  // Levels in eighths of a line. The minimum is 1, so that the lowest value is visible.
  const levels = means.map((value) =>
    high === low ? HEIGHT * 4 : Math.max(1, Math.round(((value - low) / (high - low)) * HEIGHT * 8)),
  );
  const edge = (row: number): string => (row === HEIGHT - 1 ? label(high) : row === 0 ? label(low) : "");
  const margin = Math.max(label(low).length, label(high).length);
  const lines = Array.from({ length: HEIGHT }, (_, i) => HEIGHT - 1 - i).map((row) => {
    const columns = levels
      .map((level) => symbol(level - row * 8, unicode).repeat(cell))
      .join("")
      .trimEnd();
    return `${edge(row).padStart(margin)} ${unicode ? (edge(row) === "" ? "│" : "┤") : "|"}${columns}`;
  });
  return lines.join("\n");
}

/** Returns one cell, filled by a number of eighths. */
function symbol(eighths: number, unicode: boolean): string {
  if (eighths <= 0) return " ";
  if (!unicode) return eighths >= 4 ? "#" : "_";
  return EIGHTHS[Math.min(8, eighths) - 1] as string;
}

function averaged(values: readonly number[], width: number): number[] {
  const count = Math.ceil(values.length / Math.ceil(values.length / width));
  return Array.from({ length: count }, (_, i) => {
    const part = values.slice(Math.floor((i * values.length) / count), Math.floor(((i + 1) * values.length) / count));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
