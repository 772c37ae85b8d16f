import { glyph } from "./unicode.ts";

/** Formats rows as aligned columns; the first row is the heading, numbers are right-aligned. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const isNumeric = widths.map((_, column) =>
    rows.slice(1).every((row) => /^[-+<>]?[\d.,]+( ?[%s])?$|^\d+ min \d\d s$|^$|^-$/.test(row[column] ?? "")),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        isNumeric[column] ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number),
      )
      .join("  ")
      .trimEnd();
  const [heading, ...body] = rows;
  return [line(heading ?? []), widths.map((width) => glyph("─", "-").repeat(width)).join("  "), ...body.map(line)].join(
    "\n",
  );
}
