/** Commands that stand for one value. */
import { INFINITY, PI, power, quotient, symbol, type Node, type RelationOperator } from "../tree/node.ts";
import { table } from "../table.ts";
import { parseBuilder, parseDelimited } from "./bracket.ts";
import { parseEnvironment } from "./environment.ts";
import { parseApplication, parseBigOperator, parseFunction } from "./function.ts";
import { isBasisVector } from "../tree/name.ts";
import { primed, subscripted } from "./name.ts";
import { signedSet } from "./set-words.ts";
import { parseSiunitx } from "./siunitx.ts";
import type { Parser } from "./state.ts";
import { ACCENTS, FUNCTIONS, GREEK, IGNORED_COMMANDS, TRANSPARENT_COMMANDS } from "./token.ts";

const BLACKBOARD: Readonly<Record<string, Node>> = table({
  R: { kind: "namedSet", name: "reals" },
  Z: { kind: "namedSet", name: "integers" },
  N: { kind: "namedSet", name: "naturals" },
  Q: { kind: "namedSet", name: "rationals" },
  C: { kind: "namedSet", name: "complexes" },
});
const SIGNS: Readonly<Record<string, RelationOperator>> = table({
  "+": ">",
  "-": "<",
  ">0": ">",
  "\\ge0": ">=",
  "\\geq0": ">=",
  "\\ast": "!=",
  "*": "!=",
});
const EMPTY: Node = { kind: "namedSet", name: "empty" };

export function parseCommand(p: Parser): Node {
  const { lexer } = p;
  const { token } = lexer;
  const name = token.value;
  if (name in FUNCTIONS || name === "sqrt" || name === "binom" || name === "dbinom" || name === "tbinom")
    return parseFunction(p, name);
  const delimited = parseDelimited(p, name);
  if (delimited) return delimited;
  lexer.next();
  const measured = parseSiunitx(p, name);
  if (measured) return measured;
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
    case "neg":
    case "lnot":
      return { kind: "call", name: "not()", args: [p.primary()] };
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
  if (name === "imath" || name === "jmath") return name === "imath" ? { kind: "constant", name: "i" } : symbol("j");
  if (ACCENTS.has(name)) return accented(p, name, p.argument());
  if (IGNORED_COMMANDS.has(name)) return p.primary();
  return p.fail(`unknown command \\${name}`);
}

/** Reads `\\angle ABC`: one name. */
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
  if ((accent === "hat" || accent === "vec") && isBasisVector(argument)) return argument;
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
  const sign = /^(?:_\s*\{?\s*|\^\s*\{?\s*)([+-]|\*|>0|\\geq?\s?0|\\ast|\d|n)\s*\}?/.exec(
    p.lexer.source.slice(p.lexer.token.start, p.lexer.token.start + 12),
  );
  if (!sign) return set;
  p.lexer.moveTo(p.lexer.token.start + sign[0].length);
  const operator = SIGNS[sign[1] as string];
  if (operator && set.kind === "namedSet") return signedSet(set.name, operator);
  return { kind: "call", name: `${name}${sign[1]}()`, args: [power(set, symbol(sign[1] as string))] };
}
