/** Brackets: grouping, tuples, intervals, sets, set builders, absolute values, floors and ceilings. */
import { HALF } from "../exact/rational.ts";
import { call, number, power, sum, type Bracket, type Node } from "../tree/node.ts";
import { joined } from "./list.ts";
import type { Parser } from "./state.ts";
import { table } from "../table.ts";

const CLOSERS: Readonly<Record<string, Bracket>> = table({ ")": "round", "]": "square", "[": "round" });
const DELIMITED: Readonly<Record<string, readonly [close: string, name: string]>> = table({
  lfloor: ["rfloor", "floor"],
  lceil: ["rceil", "ceil"],
  lvert: ["rvert", "abs"],
  lVert: ["rVert", "norm"],
  vert: ["vert", "abs"],
  Vert: ["Vert", "norm"],
  "|": ["|", "norm"],
});

/** Reads `(a)`, `(a, b)`, `[a, b)`, `]a, b[`. */
export function parseBracket(p: Parser): Node {
  const { lexer } = p;
  const composed = readComposition(p);
  if (composed) return composed;
  const opener = lexer.next().value;
  const open: Bracket = opener === "[" ? "square" : "round";
  return inside(p, () => {
    if (lexer.is("operator", ")")) {
      closeBracket(p);
      return { kind: "tuple", items: [], open, close: "round" };
    }
    const content = p.list();
    const close = closeBracket(p);
    if (content.kind === "list" && content.join === "comma")
      return { kind: "tuple", items: content.items, open, close };
    return content;
  });
}

const COMPOSITION = /^\(\s*((?:[a-zA-Z]\s*\\circ\s*)+[a-zA-Z])\s*\)\s*(?=\()/;

/** Reads `(f \circ g)(x)`: the application of a composition; undefined for other brackets. */
function readComposition(p: Parser): Node | undefined {
  const { lexer } = p;
  const match = COMPOSITION.exec(lexer.source.slice(lexer.token.start, lexer.token.start + 60));
  if (!match) return undefined;
  lexer.moveTo(lexer.token.start + match[0].length);
  const argument = p.primary();
  const name = (match[1] as string).replace(/\s*\\circ\s*/g, "∘");
  return { kind: "call", name: `${name}()`, args: argument.kind === "tuple" ? argument.items : [argument] };
}

/** Reads with fresh bar state one bracket deeper; the closing token is read back at the outer depth. */
function inside(p: Parser, read: () => Node): Node {
  const { bars, barSeparates } = p;
  p.bars = 0;
  p.barSeparates = false;
  p.lexer.depth++;
  p.lexer.moveTo(p.lexer.token.start);
  try {
    return read();
  } finally {
    p.lexer.depth--;
    p.bars = bars;
    p.barSeparates = barSeparates;
    p.lexer.moveTo(p.lexer.token.start);
  }
}

function closeBracket(p: Parser): Bracket {
  const { token } = p.lexer;
  const close = token.kind === "operator" ? CLOSERS[token.value] : undefined;
  if (!close) return p.fail("unclosed bracket");
  p.lexer.next();
  return close;
}

/** Reads `{...}`: a LaTeX group in mathematics, a set in plain text. */
export function parseBraces(p: Parser): Node {
  if (!p.isMath) return parsePlainSet(p);
  p.lexer.next();
  return inside(p, () => {
    if (p.lexer.take("operator", "}")) return p.primary();
    const content = p.list();
    if (!p.lexer.take("operator", "}")) p.fail("unclosed brace");
    return content;
  });
}

/** Reads `\{a, b\}` or `\{x | condition\}`; the opening brace has been read. */
export function parseBuilder(p: Parser, close = ""): Node {
  const { lexer } = p;
  const isClosed = (): boolean =>
    close === ""
      ? lexer.take("command", "}") || lexer.take("command", "rbrace") || lexer.take("operator", "}")
      : lexer.take("operator", close);
  if (lexer.is("command", "begin")) return p.primary();
  return inside(p, () => {
    if (isClosed()) return { kind: "namedSet", name: "empty" };
    p.barSeparates = true;
    const first = p.list();
    p.barSeparates = false;
    const separator =
      lexer.take("operator", "|") ||
      lexer.take("operator", ":") ||
      lexer.take("command", "mid") ||
      lexer.take("command", "colon") ||
      lexer.take("command", "vert");
    if (separator) {
      const condition = p.list();
      if (!isClosed()) p.fail("unclosed set");
      return { kind: "builder", element: first, condition };
    }
    if (!isClosed()) p.fail("unclosed set");
    return { kind: "set", items: first.kind === "list" ? first.items : [first] };
  });
}

/** `|a|`. */
export function parseAbsolute(p: Parser, bar: string): Node {
  p.lexer.next();
  p.bars++;
  const content = joined(p);
  p.bars--;
  if (!p.lexer.take("operator", bar)) p.fail("unclosed bar");
  return measured("abs", content);
}

/** Returns the absolute value of a number, or the length of a vector that is written out. */
function measured(name: string, content: Node): Node {
  const items =
    content.kind === "tuple" ? content.items : content.kind === "matrix" && name === "norm" ? content.rows.flat() : [];
  const isVector = items.length > 0 && name !== "floor" && name !== "ceil";
  return isVector ? power(sum(items.map((item) => power(item, number(2)))), number(HALF)) : call(name, content);
}

/** Reads `\lfloor a \rfloor`, `\lvert a \rvert`, `\langle a, b \rangle`; undefined when `name` opens nothing. */
export function parseDelimited(p: Parser, name: string): Node | undefined {
  const { lexer } = p;
  if (name === "lbrace") {
    lexer.next();
    return parseBuilder(p);
  }
  if (name === "langle") {
    lexer.next();
    return inside(p, () => {
      const content = p.list();
      if (!lexer.take("command", "rangle")) p.fail("unclosed angle bracket");
      return {
        kind: "tuple",
        items: content.kind === "list" ? content.items : [content],
        open: "angle",
        close: "angle",
      };
    });
  }
  const pair = DELIMITED[name];
  if (!pair) return undefined;
  lexer.next();
  p.bars++;
  const content = p.expression();
  p.bars--;
  if (!lexer.take("command", pair[0])) p.fail(`unclosed \\${name}`);
  return measured(pair[1], content);
}

function parsePlainSet(p: Parser): Node {
  p.lexer.next();
  return parseBuilder(p, "}");
}
