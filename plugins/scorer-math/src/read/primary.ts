/** Atoms: literals, symbols, words, and the commands that stand for one value. */
import { E, INFINITY, negated, number, PI, power, quotient, symbol, text, type Node } from "../tree/node.ts";
import { parseAbsolute, parseBraces, parseBracket, parseBuilder, parseDelimited } from "./bracket.ts";
import { parseEnvironment } from "./environment.ts";
import { parseApplication, parseBigOperator, parseFunction } from "./function.ts";
import { parseUnit } from "../units/unit.ts";
import { parseNumber } from "./numeral.ts";
import { ReadError, type Parser } from "./state.ts";
import { ACCENTS, FUNCTIONS, GREEK, IGNORED_COMMANDS, NUMBER_WORDS, TRANSPARENT_COMMANDS } from "./token.ts";

const BLACKBOARD: Readonly<Record<string, Node>> = {
  R: { kind: "namedSet", name: "reals" },
  Z: { kind: "namedSet", name: "integers" },
  N: { kind: "namedSet", name: "naturals" },
  Q: { kind: "namedSet", name: "rationals" },
  C: { kind: "namedSet", name: "complexes" },
};
const EMPTY: Node = { kind: "namedSet", name: "empty" };

export function parsePrimary(p: Parser): Node {
  const { lexer } = p;
  const { token } = lexer;
  switch (token.kind) {
    case "number":
      return parseNumber(p);
    case "letter":
      lexer.next();
      return parseLetter(p, token.value);
    case "word":
      return parseWord(p);
    case "text":
      return parseMarkedText(p);
    case "operator":
      if (token.value === "(" || token.value === "[") return parseBracket(p);
      if (token.value === "]") return parseBracket(p);
      if (token.value === "{") return parseBraces(p);
      if (token.value === "|") return parseAbsolute(p, "|");
      if (token.value === "$" || token.value === "£" || token.value === "€") return parseCurrency(p);
      return p.fail(`unexpected '${token.value}'`);
    case "command":
      return parseCommand(p);
    default:
      return p.fail(token.kind === "end" ? "unexpected end" : `unexpected '${token.value}'`);
  }
}

function parseLetter(p: Parser, letter: string): Node {
  const { lexer } = p;
  const counted = letter === "C" ? readCombination(p) : undefined;
  if (counted) return counted;
  if (letter === "e" && !lexer.is("operator", "_") && !lexer.is("operator", "'")) return E;
  if (letter === "i" && !lexer.is("operator", "_")) return { kind: "constant", name: "i" };
  const name = primed(p, subscripted(p, letter));
  return parseApplication(p, name) ?? symbol(name);
}

/** `C_5^2`, five choose two. */
function readCombination(p: Parser): Node | undefined {
  const { lexer } = p;
  const match = /^_\s*(?:\{\s*(\d+)\s*\}|(\d))\s*\^\s*(?:\{\s*(\d+)\s*\}|(\d))/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 30),
  );
  if (!match) return undefined;
  lexer.moveTo(lexer.token.start + match[0].length);
  const [top, bottom] = match.slice(1).filter((group) => group !== undefined) as [string, string];
  return { kind: "call", name: "binomial", args: [number(BigInt(top)), number(BigInt(bottom))] };
}

/** Takes a subscript into the name: `x_1`, `a_{n+1}`. */
function subscripted(p: Parser, name: string): string {
  const { lexer } = p;
  if (!lexer.is("operator", "_")) return name;
  const start = lexer.token.end;
  let end = start + 1;
  if (lexer.source[start] === "{") end = lexer.closingBrace(start);
  else if (/[a-zA-Z]|\\/.test(lexer.source[start] ?? ""))
    end = start + (/^(?:\\[a-zA-Z]+|[a-zA-Z])/.exec(lexer.source.slice(start, start + 20))?.[0].length ?? 1);
  else end = start + (/^\d+/.exec(lexer.source.slice(start, start + 20))?.[0].length ?? 1);
  if (end < 0) return p.fail("unclosed subscript");
  const content = lexer.source.slice(start, end).replace(/\\(?:text|mathrm|rm|textrm)|[{}\s]/g, "");
  lexer.moveTo(end);
  return `${name}_${content}`;
}

function primed(p: Parser, name: string): string {
  let marks = "";
  for (;;) {
    const ending =
      /^(?:'+|\^\s*\{?\s*(?:\\prime\s*)+\}?|\^\s*(?:\{\s*(?:\*|\\ast|\\star|\\dagger|\+)\s*\}|\*(?!\*)|\\(?:ast|star|dagger)(?![a-zA-Z])))/.exec(
        p.lexer.source.slice(p.lexer.token.start, p.lexer.token.start + 30),
      )?.[0];
    if (ending === undefined) return name + marks;
    marks += "'".repeat(ending.match(/'|\\prime/g)?.length ?? 1);
    p.lexer.moveTo(p.lexer.token.start + ending.length);
  }
}

function parseWord(p: Parser): Node {
  const { lexer } = p;
  const word = lexer.token.value;
  const lower = word.toLowerCase();
  if (word in FUNCTIONS || /^(?:sqrt|cbrt|binom|nCr)$/.test(word)) return parseFunction(p, word);
  if (lower === "pi" || lower === "infinity" || lower === "inf" || word === "oo") {
    lexer.next();
    return lower === "pi" ? PI : INFINITY;
  }
  if (GREEK.has(word)) {
    lexer.next();
    return symbol(primed(p, subscripted(p, word)));
  }
  if (lower === "negative" || lower === "minus") {
    lexer.next();
    return negated(p.primary());
  }
  const value = numberWord(lower);
  if (value !== undefined) {
    lexer.next();
    return number(value);
  }
  if (
    word.length <= 3 &&
    /^[a-z]+$|^[A-Z]+$/.test(word) &&
    !/^(?:yes|no|the|is|are|it|of|not|dne|all|any|or|and|if|to|odd|men|day|max|min|a|an)$/i.test(word)
  ) {
    lexer.moveTo(lexer.token.start + 1);
    const first = word[0] as string;
    const rest = p.readWhole(word.slice(1), true);
    lexer.moveTo(lexer.token.start + word.length - 1);
    const head: Node = first === "e" ? E : first === "i" ? { kind: "constant", name: "i" } : symbol(first);
    return { kind: "multiply", factors: rest.kind === "multiply" ? [head, ...rest.factors] : [head, rest] };
  }
  return p.fail(`unknown word '${word}'`);
}

function numberWord(word: string): number | undefined {
  const direct = NUMBER_WORDS[word];
  if (direct !== undefined) return direct;
  const [tens, ones] = word.split("-");
  const high = NUMBER_WORDS[tens ?? ""];
  const low = NUMBER_WORDS[ones ?? ""];
  return high !== undefined && low !== undefined && high >= 20 && high < 100 && low > 0 && low < 10
    ? high + low
    : undefined;
}

/** `\text{...}`: mathematics written upright, or words. */
function parseMarkedText(p: Parser): Node {
  const { value } = p.lexer.next();
  const content = value.trim();
  if (content in FUNCTIONS) return parseFunction(p, content, true);
  if (/^[a-zA-Z]$/.test(content)) return parseLetter(p, content);
  if (content === "") return p.primary();
  const count = numberWord(content.toLowerCase());
  if (count !== undefined) return number(count);
  if (/^[A-J](?:\s*(?:,|and|or|,\s*and)\s*[A-J])+$/.test(content)) return p.readWhole(content, false);
  if (/\d|^[([]|\\/.test(content)) return readMarked(p, content);
  return text(subscripted(p, content));
}

/** What upright text says as mathematics; words with digits in them stay words. */
function readMarked(p: Parser, content: string): Node {
  try {
    return p.readWhole(content, content.includes("\\"));
  } catch (error) {
    if (error instanceof ReadError) return text(content);
    throw error;
  }
}

function parseCurrency(p: Parser): Node {
  const { value: sign } = p.lexer.next();
  const value = p.primary();
  const unit = parseUnit(sign);
  return unit ? { kind: "quantity", value, unit } : value;
}

function parseCommand(p: Parser): Node {
  const { lexer } = p;
  const { token } = lexer;
  const name = token.value;
  if (name in FUNCTIONS || name === "sqrt" || name === "binom" || name === "dbinom" || name === "tbinom")
    return parseFunction(p, name);
  const delimited = parseDelimited(p, name);
  if (delimited) return delimited;
  lexer.next();
  switch (name) {
    case "frac":
      return parseFraction(p);
    case "pi":
      return PI;
    case "infty":
      return INFINITY;
    case "emptyset":
    case "varnothing":
    case "O":
      return EMPTY;
    case "mathbb":
    case "Bbb":
    case "mathds":
      return parseBlackboard(p);
    case "reals":
    case "R":
      return BLACKBOARD["R"] as Node;
    case "{":
      return parseBuilder(p);
    case "begin":
      return parseEnvironment(p);
    case "pm":
    case "mp":
      return { kind: "plusminus", value: p.primary(), first: name === "pm" ? 1 : -1 };
    case "ldots":
    case "dots":
    case "cdots":
    case "dotsc":
    case "dotsb":
    case "vdots":
      return symbol("...");
    case "int":
    case "iint":
    case "oint":
    case "sum":
    case "prod":
    case "lim":
      return parseBigOperator(p, name);
    case "angle":
    case "triangle":
    case "measuredangle":
      return parseFigure(p, name);
    default:
      break;
  }
  if (GREEK.has(name)) {
    const symbolName = primed(p, subscripted(p, name));
    return parseApplication(p, symbolName) ?? symbol(symbolName);
  }
  if (TRANSPARENT_COMMANDS.has(name)) {
    const value = p.argument();
    return value.kind === "symbol" ? symbol(primed(p, subscripted(p, value.name))) : value;
  }
  if (ACCENTS.has(name)) return accented(p, name, p.argument());
  if (IGNORED_COMMANDS.has(name)) return p.primary();
  return p.fail(`unknown command \\${name}`);
}

/** `\\angle ABC`: one name. */
function parseFigure(p: Parser, name: string): Node {
  const { lexer } = p;
  const letters = /^\s*\{?\s*((?:[A-Z]'?\s*)+|\d+)\}?/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 30),
  );
  if (!letters) return { kind: "call", name: `${name}()`, args: [p.primary()] };
  lexer.moveTo(lexer.token.start + letters[0].trimEnd().length);
  return symbol(`${name} ${(letters[1] as string).replace(/\s/g, "")}`);
}

function accented(p: Parser, name: string, argument: Node): Node {
  const accent = name === "overline" ? "bar" : name === "overrightarrow" ? "vec" : name;
  if (argument.kind === "symbol") return symbol(subscripted(p, `${accent}(${argument.name})`));
  const letters = argument.kind === "multiply" && argument.factors.every((factor) => factor.kind === "symbol");
  if (letters)
    return symbol(
      `${accent}(${argument.factors.map((factor) => (factor.kind === "symbol" ? factor.name : "")).join("")})`,
    );
  return { kind: "call", name: accent === "bar" ? "conjugate" : `${accent}()`, args: [argument] };
}

function parseFraction(p: Parser): Node {
  const { lexer } = p;
  const derivative =
    /^\{?\s*(?:\\mathrm\{d\}|d|\\partial)\s*(?:\^\s*\{?(\d)\}?)?\s*([a-zA-Z]?)\s*\}?\s*\{?\s*(?:\\mathrm\{d\}|d|\\partial)\s*([a-zA-Z])\s*(?:\^\s*\{?(\d)\}?)?\s*\}/.exec(
      lexer.source.slice(lexer.token.start, lexer.token.start + 60),
    );
  if (derivative) {
    lexer.moveTo(lexer.token.start + derivative[0].length);
    const [, order = "", of = "", by = ""] = derivative;
    return of === ""
      ? { kind: "call", name: `derivative${order}_${by}()`, args: [p.expression()] }
      : symbol(`d${order}${of}/d${by}${order}`);
  }
  const numerator = p.argument();
  return quotient(numerator, p.argument());
}

function parseBlackboard(p: Parser): Node {
  const argument = p.argument();
  const name = argument.kind === "symbol" ? (argument.name.split("_")[0] as string) : "";
  const set = BLACKBOARD[name];
  if (!set) return argument;
  const sign = /^(?:_\s*\{?\s*|\^\s*\{?\s*)([+-]|\*|>0|\\ast|\d|n)\s*\}?/.exec(
    p.lexer.source.slice(p.lexer.token.start, p.lexer.token.start + 12),
  );
  if (!sign) return set;
  p.lexer.moveTo(p.lexer.token.start + sign[0].length);
  return { kind: "call", name: `${name}${sign[1]}()`, args: [power(set, symbol(sign[1] as string))] };
}
