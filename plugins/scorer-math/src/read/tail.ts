/** Parser of words after a value: a unit of measure, a percent word, or a label without meaning such as "apples". */
import * as q from "../exact/rational.ts";
import { number, product, quotient, type Node, type QuantityNode } from "../tree/node.ts";
import { parseUnit } from "../units/unit.ts";
import { partsWord, scaleWord, readNumberWords } from "./number-words.ts";
import { productOfLetters } from "./name.ts";
import type { Parser } from "./state.ts";
import { FUNCTIONS } from "./token.ts";

const CONNECTIVE =
  /^(?:and|or|union|for|where|when|if|with|such|given|as|mod|modulo|is|are|equals|in|choose|over|to|then|but|not|otherwise|else|unless|provided|whenever|assuming)$/i;
const EXPONENT = String.raw`(?:\s*(?:\^|\*\*)\s*\{?-?\d\}?|[23](?![\d.])|\^\{-?\d\})?`;
const WORD = String.raw`[a-zA-Zµ°$¢€£¥₹]+\.?${EXPONENT}`;
/** Words and signs that may make up one unit: `km/h`, `square meters`, `kg m/s^2`, `miles per hour`. */
const UNIT_WORDS = new RegExp(
  String.raw`(?:per\s+|/\s*)?${WORD}(?:\s*(?:/|·|\*|\bper\b|-(?=[a-zA-Z]))?\s*${WORD}){0,5}`,
  "y",
);
const LONGEST_UNIT = 60;
const PERCENT = /^(?:percent|per\s*cent|percentage|pct|prozent|pour\s?cent|por\s?ciento|per\s?cento|procent)\b/i;
const INCH = /^in(?=\s*(?:$|[.,;)]|\^|\d(?!\d)))/;

/** Whether a word joins or qualifies statements, so that it is no label. */
export function isConnective(word: string): boolean {
  return CONNECTIVE.test(word.trim().replace(/^[,;.\s]+|[,;.\s]+$/g, ""));
}

/** Reads the words after `value`; undefined when they are a connective. `°` has been read when `prefix` is given. */
export function readTail(p: Parser, value: Node, prefix = ""): Node | undefined {
  if (prefix === "°") return readDegrees(p, value);
  return p.lexer.is("text") ? readMarkedTail(p, value) : readPlainTail(p, value);
}

/** Words that change or deny the value before them. They are no label. */
const CHANGES =
  /\b(?:plus|minus|squared|cubed|factorial|half|halves|inverse|at (?:most|least)|ish|false|no|none|never|bn|mil|lakh|crore|point|below|halved|doubled|tripled|root|vs|or|\w+ionths?)\b(?!-)/i;

/** Whether words change a value, or name another number. */
function isChange(words: string, value: Node): boolean {
  const isOther = (word: string): boolean => {
    const named = readNumberWords(word, 0)?.value;
    return named !== undefined && !(value.kind === "number" && q.equals(named, value.value));
  };
  return CHANGES.test(words) || words.split(/[^a-zA-Z]+/).some(isOther);
}

/** Returns `5 million`, `$3 million`, `3 tenths`: the value times the scale. */
function scaled(value: Node, word: string): Node | undefined {
  const parts = partsWord(word);
  if (parts !== undefined) return quotient(value, number(parts));
  const scale = scaleWord(word);
  if (scale === undefined) return undefined;
  return value.kind === "quantity" ? { ...value, value: times(value.value, scale) } : times(value, scale);
}

/** Returns a literal for a literal: `5 million` is a way to write a number. */
function times(value: Node, scale: bigint): Node {
  const isPlain = value.kind === "number" && value.notation === undefined && scale >= 1000n;
  return isPlain ? number(q.multiply(value.value, q.rational(scale))) : product([value, number(scale)]);
}

/** Returns the value in a unit. A quantity takes no second unit, but may be divided by one: `$5 per hour`. */
function quantity(value: Node, name: string): QuantityNode | undefined {
  if (value.kind !== "quantity") {
    const unit = parseUnit(name);
    return unit && { kind: "quantity", value, unit };
  }
  const rate = /^(?:\/|per\b)/.test(name) ? parseUnit(`${value.unit.name} ${name}`) : undefined;
  return rate && { kind: "quantity", value: value.value, unit: rate };
}

function readDegrees(p: Parser, value: Node): Node {
  const { lexer } = p;
  const scale = /^\s*(?:\\(?:text|mathrm|rm)\s*\{\s*([CF])\s*\}|([CF])(?![a-zA-Z]))/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 20),
  );
  if (scale) {
    lexer.moveTo(lexer.token.start + scale[0].length);
    return quantity(value, `°${scale[1] ?? scale[2]}`) ?? value;
  }
  return quantity(withMinutes(p, value), "°") ?? value;
}

const PRIME = String.raw`(?:'|\^\s*\{?\s*\\prime\s*\}?)`;
const MINUTES = new RegExp(
  String.raw`^\s*(\d+(?:\.\d+)?)\s*${PRIME}(?:\s*(\d+(?:\.\d+)?)\s*(?:"|${PRIME}${PRIME}|\^\s*\{?\s*\\prime\s*\\prime\s*\}?))?`,
);

/** Reads `30° 15' 20"`: degrees with their minutes and seconds. */
function withMinutes(p: Parser, value: Node): Node {
  const { lexer } = p;
  const match = MINUTES.exec(lexer.source.slice(lexer.token.start, lexer.token.start + 60));
  if (!match || value.kind !== "number" || [match[1], match[2] ?? 0].some((part) => Number(part) >= 60)) return value;
  lexer.moveTo(lexer.token.start + match[0].length);
  const part = (digits = "0", scale: bigint): q.Rational => q.divide(q.fromDecimal(digits), q.rational(scale));
  return number([part(match[1], 60n), part(match[2], 3600n)].reduce(q.add, value.value));
}

/** Reads `\text{ cm}^2`, `\mathrm{m}/\mathrm{s}`. */
function readMarkedTail(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  const content = lexer.token.value.replace(/\\[,;: ]|~/g, " ").trim();
  const isInch = /^in\.?$/.test(content);
  if ((isConnective(content.split(/\s/)[0] ?? "") && !isInch) || /^[,;]/.test(content)) return undefined;
  if (PERCENT.test(content) || content === "%" || content === "\\%") {
    lexer.next();
    return { kind: "percent", value };
  }
  const large = scaled(value, content);
  if (large) {
    lexer.next();
    return large;
  }
  const ending = lexer.source.slice(lexer.token.end);
  const more =
    /^(?:\s*\^\s*\{?\s*(-?\d)\s*\}?)?(?:\s*(\/|\\cdot)?\s*\\(?:text|mathrm|textrm|rm)\s*\{([^{}]*)\}(?:\s*\^\s*\{?\s*(-?\d)\s*\}?)?)*/.exec(
      ending,
    )?.[0] ?? "";
  const exponent = /^\s*\^\s*\{?\s*-?\d\s*\}?/.exec(ending)?.[0] ?? "";
  for (const tail of more === exponent ? [more] : [more, exponent]) {
    const name = (content + tail)
      .replace(/\\(?:text|mathrm|textrm|rm)\s*/g, " ")
      .replace(/\\cdot/g, "*")
      .replace(/[{}]/g, "");
    const found = quantity(value, name);
    if (found) {
      lexer.moveTo(lexer.token.end + tail.length);
      return found;
    }
  }
  if (/\d/.test(content) || isChange(content, value)) return undefined;
  lexer.moveTo(lexer.token.end + (/^\s*\^\s*\{?\s*[23]\s*\}?/.exec(ending)?.[0].length ?? 0));
  if (content !== "") p.droppedWords++;
  return value;
}

function readPlainTail(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  const { start } = lexer.token;
  const isInch = INCH.test(lexer.source.slice(start, start + 12));
  if (isConnective(lexer.token.value) && !isInch) return undefined;
  const percent = PERCENT.exec(lexer.source.slice(start, start + 16));
  if (percent) {
    lexer.moveTo(start + percent[0].length);
    return { kind: "percent", value };
  }
  const large = scaled(value, lexer.token.value);
  if (large) {
    lexer.next();
    return large;
  }
  const found = readUnit(p, value);
  if (found) return found;
  // `3xy` is a product; a label stands behind a space, but for the ending of an ordinal.
  const isGlued = !lexer.token.hasSpace && !/^(?:st|nd|rd|th)$/i.test(lexer.token.value);
  if (isGlued && /^(?:[a-z]{2,3}|[A-Z]{2,3})$/.test(lexer.token.value) && !(lexer.token.value in FUNCTIONS))
    return product([value, productOfLetters(p, lexer.token.value)]);
  if (isGlued || value.kind === "symbol" || isChange(lexer.token.value, value)) return undefined;
  lexer.next();
  p.droppedWords++;
  return value;
}

/** Reads the longest run of words at the current token that is a unit; undefined when the first one is none. */
function readUnit(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  const { start } = lexer.token;
  UNIT_WORDS.lastIndex = start;
  let words = UNIT_WORDS.exec(lexer.source)?.[0].slice(0, LONGEST_UNIT) ?? "";
  while (words !== "") {
    p.work.spend(20);
    const found = quantity(value, words);
    if (found) {
      lexer.moveTo(start + words.length);
      return found;
    }
    words = words.replace(/(?:^|[\s/·*.-]+)[^\s/·*.-]+[\s.]*$/, "").replace(/\s+per$/, "");
  }
  return undefined;
}

/** Reads `5 m`, `10 N m`: letters that are a unit because they end the text. */
export function readLetterUnit(p: Parser, value: Node): Node | undefined {
  const { lexer } = p;
  const { token } = lexer;
  if (p.isMath || token.kind !== "letter" || value.kind !== "number") return undefined;
  const rest = lexer.source.slice(token.start);
  // A letter without a space is a variable, unless only a measurement is written like this.
  if (!token.hasSpace && !/^(?:[a-zA-Z]\s*(?:\^|\/)|L$)/.test(rest) && value.decimals === undefined) return undefined;
  UNIT_WORDS.lastIndex = 0;
  const words = rest.length > LONGEST_UNIT ? undefined : UNIT_WORDS.exec(rest)?.[0];
  if (words?.length !== rest.length) return undefined;
  const found = quantity(value, words);
  if (found) lexer.moveTo(token.start + words.length);
  return found;
}

/** Whether upright text after a value multiplies it: a letter that is no unit, or the name of a function. */
export function isMarkedFactor(p: Parser): boolean {
  const { token, source } = p.lexer;
  if (token.kind !== "text") return false;
  const content = token.value.trim();
  if (content in FUNCTIONS) return !parseUnit(content);
  if (/^[a-zA-Z]$/.test(content)) return parseUnit(content) === undefined;
  return source.startsWith("\\operatorname", token.start) && /^[a-zA-Z]+$/.test(content) && !parseUnit(content);
}
