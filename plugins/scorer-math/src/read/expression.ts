/** Sums, products, signs, powers and set operations. */
import { add as addExact, isInteger } from "../exact/rational.ts";
import { negated, number, power, product, quotient, sum, type Node } from "../tree/node.ts";
import { readSmallerPart } from "./compound.ts";
import type { Parser } from "./state.ts";
import { parseUnit, type Unit } from "../units/unit.ts";
import { isConnective, isMarkedFactor, readLetterUnit, readTail } from "./tail.ts";
import { FUNCTIONS, GREEK } from "./token.ts";
import { table } from "../table.ts";

const SET_OPERATORS: Readonly<Record<string, "union" | "intersection" | "difference">> = table({
  cup: "union",
  bigcup: "union",
  cap: "intersection",
  bigcap: "intersection",
  setminus: "difference",
  backslash: "difference",
  smallsetminus: "difference",
});
const CLOSING_COMMANDS = new Set([
  "}",
  "\\",
  "rbrace",
  "rangle",
  "rfloor",
  "rceil",
  "rvert",
  "rVert",
  "end",
  "mid",
  "colon",
  "Rightarrow",
  "implies",
  "iff",
  "Leftrightarrow",
  "Longrightarrow",
  "land",
  "lor",
  "wedge",
  "vee",
  "cdot",
  "times",
  "div",
  "pm",
  "mp",
  "ast",
  "star",
  "over",
  "bmod",
  "pmod",
  "mod",
  "choose",
  "forall",
  "quad",
  "not",
]);

export function parseExpression(p: Parser): Node {
  let left = parseRatio(p);
  for (;;) {
    const { token } = p.lexer;
    let name = token.kind === "command" ? SET_OPERATORS[token.value] : undefined;
    if (token.kind === "word" && token.value.toLowerCase() === "union") name = "union";
    if (isUnionLetter(p)) name = "union";
    if (token.kind === "operator" && token.value === "\\" && !p.isMath) name = "difference";
    if (!name) return left;
    p.lexer.next();
    const right = parseRatio(p);
    left =
      left.kind === "setOperation" && left.name === name && name !== "difference"
        ? { ...left, sets: [...left.sets, right] }
        : { kind: "setOperation", name, sets: [left, right] };
  }
}

function parseRatio(p: Parser): Node {
  const first = parseSum(p);
  if (!p.lexer.is("operator", ":") || p.barSeparates) return first;
  const parts = [first];
  while (p.lexer.take("operator", ":")) parts.push(parseSum(p));
  return { kind: "ratio", parts };
}

function parseSum(p: Parser): Node {
  const terms: Node[] = [];
  let sign = readSign(p);
  let first = parseTerm(p);
  for (;;) {
    terms.push(applySign(sign, first));
    sign = readSign(p);
    if (sign === "") return sum(terms);
    first = parseTerm(p);
  }
}

type Sign = "" | "+" | "-" | "pm" | "mp";

function readSign(p: Parser): Sign {
  let sign: Sign = "";
  for (;;) {
    const { token } = p.lexer;
    if (token.kind === "operator" && (token.value === "+" || token.value === "-")) {
      if (
        token.value === "+" &&
        /^\+\/?-\s*[\d\w\\(]/.test(p.lexer.source.slice(token.start, token.start + 5)) &&
        p.lexer.source[token.start + 1] === "/"
      ) {
        p.lexer.moveTo(token.start + 3);
        sign = "pm";
        continue;
      }
      sign = token.value === "+" ? sign || "+" : sign === "-" ? "+" : sign === "pm" ? "mp" : sign === "mp" ? "pm" : "-";
    } else if (token.kind === "command" && (token.value === "pm" || token.value === "mp"))
      sign = sign === "-" ? (token.value === "pm" ? "mp" : "pm") : token.value;
    else return sign;
    p.lexer.next();
  }
}

function applySign(sign: Sign, value: Node): Node {
  if (sign === "-") return negated(value);
  if (sign === "pm") return { kind: "plusminus", value, first: 1 };
  if (sign === "mp") return { kind: "plusminus", value, first: -1 };
  return value;
}

function parseTerm(p: Parser): Node {
  let left: Node = parsePower(p);
  const dropped = p.droppedWords;
  for (;;) {
    if (isModulus(p)) return left;
    const { lexer } = p;
    const { token } = lexer;
    const operator = token.kind === "operator" || token.kind === "command" ? token.value : "";
    if (operator === "*" || operator === "cdot" || operator === "times" || operator === "ast" || operator === "star") {
      lexer.next();
      left = multiplied(p, left, parseSigned(p));
    } else if (operator === "/" || operator === "div") {
      lexer.next();
      left = quotient(left, parseSigned(p));
    } else if (operator === "over") {
      lexer.next();
      left = quotient(left, parseTerm(p));
    } else if (operator === "choose" || (token.kind === "word" && token.value === "choose")) {
      lexer.next();
      left = { kind: "call", name: "binomial", args: [left, parsePower(p)] };
    } else if (operator === "bmod" || (operator === "mod" && token.kind === "command")) {
      lexer.next();
      left = { kind: "call", name: "mod", args: [left, parsePower(p)] };
    } else if (operator === "%") {
      lexer.next();
      left = { kind: "percent", value: left };
    } else if (isMarkedFactor(p)) left = multiplied(p, left, parsePower(p));
    else if (token.kind === "text" || (token.kind === "word" && !startsFactor(p))) {
      const tail = readTail(p, left);
      if (!tail) return left;
      left = tail;
      if (p.droppedWords > dropped && startsFactor(p) && !isModulus(p)) p.fail("words between values");
    } else if (startsFactor(p)) {
      left =
        mixedNumber(p, left) ??
        readSmallerPart(p, left) ??
        readLetterUnit(p, left) ??
        multiplied(p, left, parsePower(p));
    } else return left;
  }
}

function multiplied(p: Parser, left: Node, right: Node): Node {
  if (left.kind !== "multiply") return product([left, right]);
  p.work.spend(left.factors.length >> 3);
  return product([...left.factors, right]);
}

function parseSigned(p: Parser): Node {
  const sign = readSign(p);
  return applySign(sign, parsePower(p));
}

/** Reads `1\frac{1}{2}` and `1 1/2`: a whole number followed by a proper fraction of literals is their sum. */
function mixedNumber(p: Parser, left: Node): Node | undefined {
  if (left.kind !== "number" || left.decimals !== undefined || !isInteger(left.value) || left.value.n < 1n)
    return undefined;
  const { lexer } = p;
  const rest = lexer.source.slice(lexer.token.start, lexer.token.start + 60);
  const match =
    /^\\frac\s*(?:\{\s*(\d+)\s*\}\s*\{\s*(\d+)\s*\}|(\d)\s*(\d)(?!\d)|(\d)\s*\{\s*(\d+)\s*\})|^(\d+)\s*\/\s*(\d+)(?![\d.])/.exec(
      rest,
    );
  if (!match) return undefined;
  const [numerator, denominator] = match.slice(1).filter((group) => group !== undefined) as [string, string];
  if (match[7] !== undefined && !lexer.token.hasSpace) return undefined;
  if (BigInt(denominator) === 0n || BigInt(numerator) >= BigInt(denominator)) return undefined;
  lexer.moveTo(lexer.token.start + match[0].length);
  const fraction = quotient(number(BigInt(numerator)), number(BigInt(denominator)));
  return fraction.kind === "number"
    ? number(addExact(left.value, fraction.value), undefined, { kind: "mixed" })
    : undefined;
}

/** Whether the current token can begin a factor, so that juxtaposition multiplies. */
export function startsFactor(p: Parser): boolean {
  const { token } = p.lexer;
  switch (token.kind) {
    case "number":
      return true;
    case "letter":
      return !isUnionLetter(p);
    case "word":
      return isMathWord(token.value) && !isUnitHere(p);
    case "command":
      return (
        !CLOSING_COMMANDS.has(token.value) && !(token.value in SET_OPERATORS) && !(token.value === "|" && p.bars > 0)
      );
    case "operator":
      if (token.value === "|") return p.bars === 0 && !p.barSeparates;
      if (token.value === "[")
        return !/^\[\s*(?:$|\\cup|\\cap|[,;)])/.test(p.lexer.source.slice(token.start, token.start + 8));
      return token.value === "(" || token.value === "{";
    default:
      return false;
  }
}

/** Whether the current letter is a union: it is between two brackets, as in `(1, 2) U (3, 4)`. */
function isUnionLetter(p: Parser): boolean {
  const { token, source } = p.lexer;
  if (token.kind !== "letter" || token.value !== "U") return false;
  return (
    /[)\]}]\s*$/.test(source.slice(0, token.start).slice(-4)) &&
    /^\s*(?:[[({]|\\\{)/.test(source.slice(token.end, token.end + 4))
  );
}

/** Whether the tokens are the modulus of a congruence: `(mod 3)`. */
function isModulus(p: Parser): boolean {
  return /^\(\s*(?:mod|\\(?:b?mod|text\{\s*mod|mathrm\{\s*mod))/.test(
    p.lexer.source.slice(p.lexer.token.start, p.lexer.token.start + 16),
  );
}

/** Returns true for `90 min`, `45 deg`: names of functions that are units when no bracket follows. */
function isUnitHere(p: Parser): boolean {
  const { token, source } = p.lexer;
  return /^(?:min|max|deg|mod|dim)$/.test(token.value) && !/^\s*[(_{]/.test(source.slice(token.end, token.end + 4));
}

/** Whether a word of plain text is mathematics: function names, Greek letters, short products of variables. */
export function isMathWord(word: string): boolean {
  if (isConnective(word)) return false;
  return word in FUNCTIONS || GREEK.has(word) || /^(?:sqrt|cbrt|pi|inf|infinity|oo|binom|C|nCr)$/.test(word);
}

function parsePower(p: Parser): Node {
  let base = p.primary();
  for (;;) {
    const { lexer } = p;
    const { token } = lexer;
    if (token.kind === "operator" && token.value === "^") {
      lexer.next();
      base = raised(p, base);
    } else if (token.kind === "operator" && token.value === "!") {
      lexer.next();
      base = { kind: "call", name: lexer.take("operator", "!") ? "doubleFactorial" : "factorial", args: [base] };
    } else if (token.kind === "operator" && token.value === "%") {
      lexer.next();
      base = { kind: "percent", value: base };
    } else if (
      token.kind === "operator" &&
      /^[¢€£¥₹$]$/.test(token.value) &&
      !/^\s*\d/.test(lexer.source.slice(token.end, token.end + 4))
    ) {
      lexer.next();
      base = { kind: "quantity", value: base, unit: parseUnit(token.value) as Unit };
    } else if (
      (token.kind === "operator" && token.value === "°") ||
      (token.kind === "command" && token.value === "degree")
    ) {
      lexer.next();
      base = readTail(p, base, "°") as Node;
    } else return base;
  }
}

function raised(p: Parser, base: Node): Node {
  const { lexer } = p;
  const degrees = /^(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z])|\{\s*(?:o|°)\s*\}|°)/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 16),
  );
  if (degrees) {
    lexer.moveTo(lexer.token.start + degrees[0].length);
    return readTail(p, base, "°") as Node;
  }
  if (lexer.is("operator", "{")) return power(base, p.argument());
  const sign = readSign(p);
  const exponent = p.primary();
  const tower = lexer.is("operator", "^") && lexer.next() ? p.nested(() => raised(p, exponent)) : exponent;
  return power(base, applySign(sign, tower));
}
