/**
 * Units of measure with exact factors to a base unit of their dimension.
 * Definitions: BIPM SI Brochure (9th ed.); the international yard and pound agreement of 1959 (0.9144 m,
 * 0.45359237 kg); US liquid measures (231 cubic inches to the gallon).
 */
import { fromDecimal, rational, type Rational } from "../exact/rational.ts";

export type Dimension = Readonly<Record<string, number>>;
export type UnitEntry = { readonly dimension: Dimension; readonly factor: Rational; readonly hasPi?: true };

const LENGTH = { m: 1 };
const AREA = { m: 2 };
const VOLUME = { m: 3 };
const MASS = { kg: 1 };
const TIME = { s: 1 };
const ENERGY = { kg: 1, m: 2, s: -2 };
const POWER = { kg: 1, m: 2, s: -3 };

function entry(dimension: Dimension, factor: string | Rational): UnitEntry {
  return { dimension, factor: typeof factor === "string" ? fromDecimal(factor) : factor };
}

/** Symbols and words that take SI prefixes (symbols take `k`, words take `kilo`). */
const PREFIXED: readonly (readonly [symbols: string, words: string, entry: UnitEntry])[] = [
  ["m", "meter metre", entry(LENGTH, "1")],
  ["g", "gram gramme", entry(MASS, "0.001")],
  ["s", "second", entry(TIME, "1")],
  ["L l", "liter litre", entry(VOLUME, "0.001")],
  ["J", "joule", entry(ENERGY, "1")],
  ["W", "watt", entry(POWER, "1")],
  ["ohm", "ohm", entry({ kg: 1, m: 2, s: -3, A: -2 }, "1")],
  ["F", "farad", entry({ kg: -1, m: -2, s: 4, A: 2 }, "1")],
  ["T", "tesla", entry({ kg: 1, s: -2, A: -1 }, "1")],
  ["N", "newton", entry({ kg: 1, m: 1, s: -2 }, "1")],
  ["Pa", "pascal", entry({ kg: 1, m: -1, s: -2 }, "1")],
  ["Hz", "hertz", entry({ s: -1 }, "1")],
  ["A", "ampere amp", entry({ A: 1 }, "1")],
  ["V", "volt", entry({ kg: 1, m: 2, s: -3, A: -1 }, "1")],
  ["C", "coulomb", entry({ A: 1, s: 1 }, "1")],
  ["mol", "mole", entry({ mol: 1 }, "1")],
  ["Wh", "watthour", entry(ENERGY, "3600")],
  ["cal", "calorie", entry(ENERGY, "4.184")],
  ["B", "byte", entry({ bit: 1 }, "8")],
  ["bar", "", entry({ kg: 1, m: -1, s: -2 }, "100000")],
  ["", "bit", entry({ bit: 1 }, "1")],
];

const PREFIXES: readonly (readonly [symbol: string, word: string, power: number])[] = [
  ["n", "nano", -9],
  ["u", "micro", -6],
  ["m", "milli", -3],
  ["c", "centi", -2],
  ["d", "deci", -1],
  ["h", "hecto", 2],
  ["k", "kilo", 3],
  ["M", "mega", 6],
  ["G", "giga", 9],
  ["T", "tera", 12],
];

const PLAIN: readonly (readonly [names: string, entry: UnitEntry])[] = [
  ["in inch inches", entry(LENGTH, "0.0254")],
  ["ft foot feet", entry(LENGTH, "0.3048")],
  ["yd yds yard yards", entry(LENGTH, "0.9144")],
  ["mi mile miles", entry(LENGTH, "1609.344")],
  ["lightyear lightyears", entry(LENGTH, "9460730472580800")],
  ["au AU", entry(LENGTH, "149597870700")],
  ["acre acres", entry(AREA, "4046.8564224")],
  ["ha hectare hectares", entry(AREA, "10000")],
  ["gal gallon gallons", entry(VOLUME, "0.003785411784")],
  ["qt quart quarts", entry(VOLUME, "0.000946352946")],
  ["pt pint pints", entry(VOLUME, "0.000473176473")],
  ["cup cups", entry(VOLUME, "0.0002365882365")],
  ["lb lbs pound pounds", entry(MASS, "0.45359237")],
  ["oz ounce ounces", entry(MASS, "0.028349523125")],
  ["tonne tonnes", entry(MASS, "1000")],
  ["ton tons", entry(MASS, "907.18474")],
  ["sec secs", entry(TIME, "1")],
  ["min mins minute minutes", entry(TIME, "60")],
  ["h hr hrs hour hours", entry(TIME, "3600")],
  ["day days", entry(TIME, "86400")],
  ["fortnight fortnights", entry(TIME, "1209600")],
  ["week weeks", entry(TIME, "604800")],
  ["month months", entry({ month: 1 }, "1")],
  ["yr yrs year years", entry({ month: 1 }, "12")],
  ["decade decades", entry({ month: 1 }, "120")],
  ["century centuries", entry({ month: 1 }, "1200")],
  ["atm atmosphere atmospheres", entry({ kg: 1, m: -1, s: -2 }, "101325")],
  ["bars", entry({ kg: 1, m: -1, s: -2 }, "100000")],
  ["torr", entry({ kg: 1, m: -1, s: -2 }, rational(101325, 760))],
  ["mph", entry({ m: 1, s: -1 }, "0.44704")],
  ["kmh kph kmph", entry({ m: 1, s: -1 }, rational(5, 18))],
  ["eV", entry(ENERGY, rational(1602176634n, 10n ** 28n))],
  ["K kelvin kelvins", entry({ K: 1 }, "1")],
  ["celsius °C degC", entry({ celsius: 1 }, "1")],
  ["fahrenheit °F degF", entry({ fahrenheit: 1 }, "1")],
  ["dollar dollars USD CAD AUD $", entry({ dollar: 1 }, "1")],
  ["cent cents ct cts ¢", entry({ dollar: 1 }, "0.01")],
  ["euro euros Euro Euros EUR €", entry({ euro: 1 }, "1")],
  ["£ GBP", entry({ sterling: 1 }, "1")],
  ["pence", entry({ sterling: 1 }, "0.01")],
  ["yen ¥ yuan JPY CNY RMB", entry({ yen: 1 }, "1")],
  ["rupee rupees ₹ INR", entry({ rupee: 1 }, "1")],
  ["franc francs CHF", entry({ franc: 1 }, "1")],
  ["°", { dimension: {}, factor: rational(1, 180), hasPi: true }],
  ["deg degree degrees", { dimension: {}, factor: rational(1, 180), hasPi: true }],
  ["rad radian radians", entry({}, "1")],
  ["rev revs revolution revolutions", { dimension: {}, factor: rational(2), hasPi: true }],
  ["rpm", { dimension: { s: -1 }, factor: rational(1, 30), hasPi: true }],
  ["knot knots", entry({ m: 1, s: -1 }, rational(1852, 3600))],
];

function build(): ReadonlyMap<string, UnitEntry> {
  const table = new Map<string, UnitEntry>();
  const scaled = (base: UnitEntry, power: number): UnitEntry => ({
    dimension: base.dimension,
    factor:
      power < 0
        ? rational(base.factor.n, base.factor.d * 10n ** BigInt(-power))
        : rational(base.factor.n * 10n ** BigInt(power), base.factor.d),
  });
  for (const [symbols, words, base] of PREFIXED) {
    for (const [symbolPrefix, wordPrefix, power] of [["", "", 0] as const, ...PREFIXES]) {
      const value = scaled(base, power);
      for (const symbol of symbols.split(" ")) if (symbol) table.set(symbolPrefix + symbol, value);
      for (const word of words.split(" ")) {
        if (word === "") continue;
        table.set(wordPrefix + word, value);
        table.set(`${wordPrefix}${word}s`, value);
      }
    }
  }
  for (const [names, value] of PLAIN) for (const name of names.split(" ")) table.set(name, value);
  return table;
}

export const UNITS: ReadonlyMap<string, UnitEntry> = build();
