/** Applications of functions, with and without brackets; sums, products, limits and integrals. */
import { call, E, number, power, product, quotient, sum, symbol, type Node } from "../tree/node.ts";
import { mapChildren } from "../tree/walk.ts";
import { startsFactor } from "./expression.ts";
import type { Parser } from "./state.ts";
import { FUNCTIONS } from "./token.ts";

const ALWAYS_FUNCTIONS = /^[fghFGH](?:_\w+)?'*$|^(?:phi|psi)'*$/;
const MANY_ARGUMENTS = new Set(["gcd", "lcm", "max", "min", "mod", "binom", "nCr"]);

const DEFINED = /^[A-Za-w](?:_\w+)?$/;
/** `(A, B) =`, `(A \cup B) =`, and after a capital letter or p and q also `(2) =`. */
const NAMED_ARGUMENTS = /^\(\s*[A-Za-z](?:\s*(?:,|\\c[au]p(?![a-z]))\s*(?:[A-Za-z]|\\ell))+\s*\)\s*(?:=|\\approx)(?!=)/;
const NUMBER_ARGUMENT = /^\(\s*-?\d+\s*\)\s*=(?!=)/;

/** Whether the brackets at `at` belong to a name that begins its statement: `d(A, B) = 5`, `P(2) = 7`. */
function isDefinition(source: string, at: number, name: string): boolean {
  const next = source.slice(at, at + 40);
  if (!NAMED_ARGUMENTS.test(next) && !(/^[A-Zpq]/.test(name) && NUMBER_ARGUMENT.test(next))) return false;
  const before = source.slice(Math.max(0, at - 40), at).replace(/[A-Za-z](?:_\w+|_\{\w+\})?\s*$/, "");
  return /(?:^|[,;&}]|\\q?quad)\s*$/.test(before);
}

/** Reads `f(x)`: undefined when the brackets after the name multiply. */
export function parseApplication(p: Parser, name: string): Node | undefined {
  const { lexer } = p;
  const isFunction = ALWAYS_FUNCTIONS.test(name) || name.endsWith("'");
  const next = lexer.source.slice(lexer.token.start, lexer.token.start + 16);
  const inverse = isFunction ? /^\^\s*\{?\s*-1\s*\}?\s*(?=\()/.exec(next)?.[0] : undefined;
  if (inverse) lexer.moveTo(lexer.token.start + inverse.length);
  const isLetterOf = /^[A-Za-z](?:_\w+)?$/.test(name) && /^\(\s*[a-zA-Z]\s*\)\s*(?:=|\\approx|$)/.test(next);
  const isNamed =
    lexer.is("operator", "(") &&
    /^(?:P|Pr|E|Var|Cov)$/.test(name) &&
    /^\([^()]*(?:[|=<>]|\\(?:mid|[lg]eq?(?:slant)?|cap|cup|text|in)(?![a-z]))/.test(
      lexer.source.slice(lexer.token.start, lexer.token.start + 60),
    );
  const isDefined =
    lexer.is("operator", "(") && DEFINED.test(name) && isDefinition(lexer.source, lexer.token.start, name);
  if (!(isFunction || isLetterOf || isNamed || isDefined) || !lexer.is("operator", "(")) return undefined;
  const argument = p.primary();
  const args = argument.kind === "tuple" ? argument.items : [argument];
  return { kind: "call", name: `${name}${inverse ? "^-1" : ""}()`, args };
}

/** Reads a named function at the current token, with its powers, base and argument. */
export function parseFunction(p: Parser, name: string, isRead = false): Node {
  const { lexer } = p;
  if (!isRead) lexer.next();
  if (name === "sqrt" || name === "cbrt") return parseRoot(p, name);
  if (/^[dt]?binom$/.test(name) && p.isMath && !lexer.is("operator", "("))
    return call("binomial", p.argument(), p.argument());
  const known = FUNCTIONS[name] ?? (name === "binom" || name === "nCr" ? "binomial" : `${name}()`);
  const exponent = lexer.take("operator", "^") ? readScript(p) : undefined;
  const base = lexer.take("operator", "_") || isDigitBase(p, name) ? readScript(p) : undefined;
  const raisedLater = exponent === undefined && lexer.take("operator", "^") ? readScript(p) : exponent;
  const args = readArguments(p, MANY_ARGUMENTS.has(name));
  const value = apply(known, name, args, base);
  if (raisedLater === undefined) return value;
  const isInverse = raisedLater.kind === "number" && raisedLater.value.n === -1n && raisedLater.value.d === 1n;
  return isInverse && /^(?:sin|cos|tan|cot|sec|csc)h?$/.test(known)
    ? call(`a${known}`, ...args)
    : power(value, raisedLater);
}

/** Returns true for `log2(8)` and `log10(5)` of plain text. */
function isDigitBase(p: Parser, name: string): boolean {
  const { token, source } = p.lexer;
  return (
    name === "log" && !p.isMath && !token.hasSpace && /^(?:2|10)\s*\(/.test(source.slice(token.start, token.start + 6))
  );
}

function apply(known: string, name: string, args: readonly Node[], base: Node | undefined): Node {
  const [argument] = args as [Node];
  if (known === "exp") return power(E, argument);
  if (known === "cis")
    return sum([call("cos", argument), product([{ kind: "constant", name: "i" }, call("sin", argument)])]);
  if (known === "log") return call("log", argument, base ?? (name === "lg" ? number(10) : symbol("base")));
  return { kind: "call", name: known, args: base === undefined ? args : [...args, base] };
}

function readScript(p: Parser): Node {
  const { lexer } = p;
  if (lexer.is("operator", "{")) return p.primary();
  const isNegative = lexer.take("operator", "-");
  const value = p.isMath ? p.argument() : p.primary();
  return isNegative && value.kind === "number" ? number({ n: -value.value.n, d: value.value.d }) : value;
}

function parseRoot(p: Parser, name: string): Node {
  const { lexer } = p;
  let index: Node = number(name === "cbrt" ? 3 : 2);
  if (lexer.is("operator", "[") && p.isMath) {
    lexer.next();
    index = p.expression();
    if (!lexer.take("operator", "]")) p.fail("unclosed root index");
  }
  const radicand = p.isMath && !lexer.is("number") ? p.argument() : readRadicand(p);
  return power(radicand, quotient(number(1), index));
}

/** Reads `\sqrt 13` and `\sqrt13`: what models write means the whole number, though TeX would take one digit. */
function readRadicand(p: Parser): Node {
  return p.primary();
}

/** Reads the bracketed arguments, or without brackets the factors up to the next sign, operator or function. */
function readArguments(p: Parser, many: boolean): readonly Node[] {
  const { lexer } = p;
  if (lexer.is("operator", "(") || (lexer.is("operator", "[") && !many) || (lexer.is("operator", "{") && p.isMath)) {
    const argument = p.primary();
    return argument.kind === "tuple" || (argument.kind === "list" && many) ? argument.items : [argument];
  }
  const isNegative = lexer.take("operator", "-");
  const factors: Node[] = [readFactor(p)];
  while (startsFactor(p) && !isFunctionNext(p) && !lexer.is("operator", "(")) factors.push(readFactor(p));
  if (
    lexer.is("operator", "/") &&
    !p.isMath &&
    /^\/\s*\d/.test(lexer.source.slice(lexer.token.start, lexer.token.start + 4))
  ) {
    lexer.next();
    factors.push(power(p.primary(), number(-1)));
  }
  if (isNegative) factors.unshift(number(-1));
  return [factors.length === 1 ? (factors[0] as Node) : { kind: "multiply", factors }];
}

function readFactor(p: Parser): Node {
  const { lexer } = p;
  const base = p.primary();
  if (lexer.is("operator", "^")) {
    const degrees = /^\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![a-zA-Z]))/.exec(
      lexer.source.slice(lexer.token.start, lexer.token.start + 16),
    );
    if (degrees) {
      lexer.moveTo(lexer.token.start + degrees[0].length);
      return inDegrees(base);
    }
    lexer.next();
    return power(base, readScript(p));
  }
  if (lexer.take("operator", "°")) return inDegrees(base);
  if (lexer.take("operator", "!")) return call("factorial", base);
  return base;
}

function inDegrees(value: Node): Node {
  return { kind: "multiply", factors: [value, { kind: "constant", name: "pi" }, number({ n: 1n, d: 180n })] };
}

function isFunctionNext(p: Parser): boolean {
  const { token } = p.lexer;
  return (
    (token.kind === "command" || token.kind === "word") &&
    (token.value in FUNCTIONS || /^(?:int|sum|prod|lim)$/.test(token.value))
  );
}

/** Reads `\sum_{k=1}^{n} a_k`, `\int_0^1 f\,dx`, `\lim_{x \to 0} f`: the operator with its body and limits. */
export function parseBigOperator(p: Parser, name: string): Node {
  const { lexer } = p;
  let low: Node | undefined;
  let high: Node | undefined;
  for (;;) {
    if (lexer.is("operator", "_") && low === undefined) {
      lexer.next();
      low = p.argument();
    } else if (lexer.is("operator", "^") && high === undefined) {
      lexer.next();
      high = p.argument();
    } else break;
  }
  const integrated = name.endsWith("int") ? readIntegrand(p) : undefined;
  const body = integrated?.body ?? p.expression();
  const by = integrated?.by;
  const args = [body, ...(low ? [low] : []), ...(high ? [high] : [])];
  const isIndexI = low?.kind === "relation" && low.operands[0]?.kind === "constant" && low.operands[0].name === "i";
  return { kind: "call", name: `${name}${by ? `_d${by}` : ""}()`, args: isIndexI ? args.map(withIndexI) : args };
}

/** Operators with an index variable, in which `i` is not the imaginary unit. */
function withIndexI(node: Node): Node {
  return node.kind === "constant" && node.name === "i" ? symbol("i") : mapChildren(node, withIndexI);
}

/** Reads the integrand up to its differential `dx`. */
function readIntegrand(p: Parser): { body: Node; by: string } | undefined {
  const { lexer } = p;
  const rest = lexer.source.slice(lexer.token.start);
  const match = /^((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*?)\s*(?:\\mathrm\s*\{d\}|\bd)\s*([a-z])(?![a-zA-Z])/.exec(
    rest.slice(0, 400),
  );
  if (!match) return undefined;
  const body = (match[1] as string).trim();
  lexer.moveTo(lexer.token.start + match[0].length);
  return { body: body === "" ? number(1) : p.readWhole(body, true), by: match[2] as string };
}
