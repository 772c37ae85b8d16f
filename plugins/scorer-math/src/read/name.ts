/** Marks that belong to the name of a symbol: subscripts, primes, stars. */
import { E, product, symbol, type Node } from "../tree/node.ts";
import type { Parser } from "./state.ts";

/** Takes a subscript into the name: `x_1`, `a_{n+1}`. */
export function subscripted(p: Parser, name: string): string {
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

/** Takes primes and star superscripts into the name: `f''`, `x^*`. */
export function primed(p: Parser, name: string): string {
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

/** Returns all letters but the last, which is left for what comes after it: the exponent of `gt^2` belongs to t. */
export function productOfLetters(p: Parser, word: string): Node {
  const { lexer } = p;
  lexer.moveTo(lexer.token.start + word.length - 1);
  const letters = [...word.slice(0, -1)];
  return product(
    letters.map((letter): Node =>
      letter === "e" ? E : letter === "i" ? { kind: "constant", name: "i" } : symbol(letter),
    ),
  );
}
