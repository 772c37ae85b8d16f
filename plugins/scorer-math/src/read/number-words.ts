/** Numbers in English words: `twenty-one`, `two hundred and five`, `five and a half`, `a dozen`, `third`. */
import { add, fromDecimal, multiply, rational, type Rational } from "../exact/rational.ts";
import { table } from "../table.ts";
import type { Notation } from "../tree/node.ts";

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const ORDINALS =
  "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(
    " ",
  );
const SCALES: Readonly<Record<string, bigint>> = table({
  dozen: 12n,
  hundred: 100n,
  thousand: 1000n,
  million: 10n ** 6n,
  billion: 10n ** 9n,
  trillion: 10n ** 12n,
});
const PARTS: Readonly<Record<string, number>> = table(
  Object.fromEntries(
    [
      ["half", 2] as const,
      ["quarter", 4] as const,
      ...ORDINALS.slice(2).map((name, i) => [name, i + 3] as const),
      ["hundredth", 100] as const,
      ["thousandth", 1000] as const,
    ].flatMap(([name, parts]) => [
      [name, parts],
      [name === "half" ? "halves" : `${name}s`, parts],
    ]),
  ),
);

const WORD = /[a-zA-Z]+/y;
const POINT = /\s+point(?:\s+(?:zero|one|two|three|four|five|six|seven|eight|nine))+(?![a-zA-Z])/iy;
const AND_PART = /\s+and\s+(a|an|[a-z]+)[\s-]+([a-z]+)(?![a-zA-Z])/iy;
const PART = /[\s-]+(?:of\s+an?\s+)?([a-z]+)(?![a-zA-Z])/iy;

/** `notation` marks words that state an operation. */
export type NumberWords = { readonly value: Rational; readonly length: number; readonly notation?: Notation };

/** Returns 1 to 99, or undefined. */
function small(word: string): number | undefined {
  const index = SMALL.indexOf(word);
  if (index >= 0) return index;
  const tens = TENS.indexOf(word);
  return tens < 0 ? undefined : 20 + 10 * tens;
}

/** Returns the scale that a word such as `million` or `dozens` names. */
export function scaleWord(word: string): bigint | undefined {
  return SCALES[word.trim().toLowerCase().replace(/s$/, "")];
}

/** Returns the number of equal parts that a plural such as `tenths` names. Quarters are also coins. */
export function partsWord(word: string): number | undefined {
  const name = word.trim().toLowerCase();
  return name.endsWith("ths") || name === "thirds" ? PARTS[name] : undefined;
}

/** Returns the ordinal that is a whole word: `third` is 3. Fractions have an article or a count: `a third`. */
export function ordinalWord(word: string): number | undefined {
  const index = ORDINALS.indexOf(word.toLowerCase());
  return index < 0 ? undefined : index + 1;
}

/** Reads the number whose words begin at `at`, as far as they go; undefined when there are none. */
export function readNumberWords(source: string, at: number): NumberWords | undefined {
  const whole = readWhole(source, at);
  if (!whole) return undefined;
  const end = at + whole.length;
  const decimals = match(POINT, source, end);
  if (decimals) {
    const digits = decimals[0]
      .trim()
      .split(/\s+/)
      .slice(1)
      .map((word) => SMALL.indexOf(word.toLowerCase()));
    return { value: fromDecimal(`${whole.value}.${digits.join("")}`), length: whole.length + decimals[0].length };
  }
  const mixed = match(AND_PART, source, end);
  const count = mixed && (/^an?$/i.test(mixed[1] as string) ? 1 : small((mixed[1] as string).toLowerCase()));
  const part = mixed && PARTS[(mixed[2] as string).toLowerCase()];
  if (mixed && count && part)
    return {
      value: add(rational(whole.value), rational(count, part)),
      length: whole.length + mixed[0].length,
      notation: { kind: count < part ? "mixed" : "computed" },
    };
  const bare = match(PART, source, end);
  const divisor = bare && PARTS[(bare[1] as string).toLowerCase()];
  const isDozens = /dozen/i.test(source.slice(at, end));
  if (bare && divisor && whole.value > 0n && !isDozens)
    return {
      value: multiply(rational(whole.value), rational(1, divisor)),
      length: whole.length + bare[0].length,
      notation: { kind: "fraction", top: whole.value, bottom: BigInt(divisor) },
    };
  return { value: rational(whole.value), length: whole.length, ...(isDozens && { notation: { kind: "computed" } }) };
}

/** Reads `a half`, `half`, `a quarter`; `half a dozen` stays unread. */
export function readPartWords(source: string): Rational | undefined {
  const found = /^(?:an?\s+)?(half|quarter)$|^an?\s+([a-z]+)$/i.exec(source);
  const divisor = found && PARTS[((found[1] ?? found[2]) as string).toLowerCase()];
  return divisor ? rational(1, divisor) : undefined;
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

/** Reads a whole number: hundreds and what is below them add up, and scales multiply what came before. */
function readWhole(source: string, at: number): { readonly value: bigint; readonly length: number } | undefined {
  let total = 0n;
  let current: bigint | undefined;
  let lastScale: bigint | undefined;
  let end = at;
  for (let from = at; ;) {
    const word = match(WORD, source, from)?.[0].toLowerCase();
    if (word === undefined) break;
    const value = small(word);
    const scale = SCALES[word] ?? (word === "dozens" ? 12n : undefined);
    const isFirst = end === at;
    if (value !== undefined && fits(current, value)) current = (current ?? 0n) + BigInt(value);
    else if (isFirst && word === "a" && /^a\s+(?:hundred|thousand|million|billion|dozen)\b/i.test(source.slice(from))) {
      current = 1n;
    } else if (scale !== undefined && current !== undefined && current !== 0n) {
      if (scale === 100n || scale === 12n) current *= scale;
      else if (lastScale !== undefined && lastScale <= scale) break;
      else {
        total += current * scale;
        current = undefined;
        lastScale = scale;
      }
    } else break;
    end = from + word.length;
    const gap = /^(?:[\s-]+(?:and\s+(?=[a-z]))?)/i.exec(source.slice(end, end + 12))?.[0] ?? "";
    const isAndAllowed = scale !== undefined && scale !== 12n;
    if (gap === "" || (/and/i.test(gap) && !isAndAllowed)) break;
    from = end + gap.length;
  }
  if (end === at) return undefined;
  return { value: total + (current ?? 0n), length: end - at };
}

/** Whether a number word can follow: `twenty` takes a digit, `two hundred` takes any number below a hundred. */
function fits(current: bigint | undefined, value: number): boolean {
  if (current === undefined) return true;
  if (value === 0) return false;
  const rest = current % 100n;
  return rest === 0n ? current > 0n : rest >= 20n && rest % 10n === 0n && value < 10;
}
