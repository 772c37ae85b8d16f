/** Unit expressions such as `km/h`, `square meters`, `m s^{-2}`, read to an exact factor and a dimension. */
import { absolute, divide, multiply, ONE, power, toText, type Rational } from "../exact/rational.ts";
import { UNITS, type UnitEntry } from "./table.ts";

/** `factor` times the base units named in `dimension` (exponents by base unit); times pi as well when `hasPi`. */
export type Unit = {
  readonly name: string;
  readonly factor: Rational;
  readonly dimension: string;
  readonly hasPi: boolean;
};

const TOKEN =
  /\s*(?:(per\b|\/)|([*·.])|(square|sq|cubic|cu)\b\.?|([a-zA-Zµ°Ω$¢€£¥₹]+)\.?(?:\s*(?:\^|\*\*)?\s*\{?\s*([+-]?\d)\s*\}?|(²|³))?)/uy;
const LONGEST = 60;

/** Reads the unit that the words name, or undefined when one of them is no unit. */
export function parseUnit(source: string): Unit | undefined {
  const name = source
    .replace(/\s+/g, " ")
    .replace(/\blight[ -]?year/i, "lightyear")
    .replace(/\bdegrees? (?=celsius|fahrenheit)/i, "")
    .trim();
  if (name === "" || name.length > LONGEST) return undefined;
  const dimension = new Map<string, number>();
  let factor = ONE;
  let hasPi = false;
  let isDivided = false;
  let pending = 1;
  let count = 0;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < name.length) {
    const match = TOKEN.exec(name);
    if (!match) return undefined;
    const [, slash, dot, squared, word, digits, superscript] = match;
    if (slash) isDivided = true;
    else if (squared) pending = squared.startsWith("sq") ? 2 : 3;
    else if (word) {
      const found = lookUp(word);
      if (!found) return undefined;
      const exponent =
        pending * (superscript ? (superscript === "²" ? 2 : 3) : digits ? Number(digits) : 1) * (isDivided ? -1 : 1);
      const scale = power(absolute(found.factor), Math.abs(exponent));
      factor = exponent < 0 ? divide(factor, scale) : multiply(factor, scale);
      for (const [base, k] of Object.entries(found.dimension))
        dimension.set(base, (dimension.get(base) ?? 0) + k * exponent);
      hasPi ||= found.hasPi === true;
      pending = 1;
      count++;
    } else if (!dot) return undefined;
  }
  if (count === 0) return undefined;
  const parts = [...dimension].filter(([, k]) => k !== 0).sort(([a], [b]) => (a < b ? -1 : 1));
  return { name, factor, hasPi, dimension: parts.map(([base, k]) => `${base}^${k}`).join(" ") };
}

function lookUp(word: string): UnitEntry | undefined {
  return UNITS.get(word) ?? (word.length > 2 ? UNITS.get(word.toLowerCase()) : undefined);
}

export function showUnit(unit: Unit): string {
  return unit.dimension === "" ? unit.name : `${unit.name} [${toText(unit.factor)} ${unit.dimension}]`;
}
