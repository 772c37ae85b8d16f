/** Words of plain text: names of functions and constants, numbers in words, short products of variables. */
import { INFINITY, negated, number, PI, symbol, type Node } from "../tree/node.ts";
import { parseUnit, type Unit } from "../units/unit.ts";
import { parseFunction } from "./function.ts";
import { primed, productOfLetters, subscripted } from "./name.ts";
import { ordinalWord, readNumberWords } from "./number-words.ts";
import type { Parser } from "./state.ts";
import { isConnective } from "./tail.ts";
import { FUNCTIONS, GREEK } from "./token.ts";

/** Short words that are no product of variables. */
const ENGLISH =
  /^(?:yes|no|the|is|are|it|of|not|dne|all|any|or|and|if|to|odd|men|day|max|min|a|an|he|she|has|had|was|we|be|by|so|as|at|up|on|do|its|for|but|one|two|six|ten|new|old|red|pm|am|ad)$/i;

export function parseWord(p: Parser): Node {
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
  const derivative = /^d([a-zA-Z])\/d([a-zA-Z])(?![\w])/.exec(
    lexer.source.slice(lexer.token.start, lexer.token.start + 8),
  );
  if (derivative) {
    lexer.moveTo(lexer.token.start + derivative[0].length);
    return symbol(`d${derivative[1]}/d${derivative[2]}`);
  }
  const count = readNumberWords(lexer.source, lexer.token.start);
  if (count) {
    lexer.moveTo(lexer.token.start + count.length);
    return number(count.value, undefined, count.notation);
  }
  if (
    /^(?:USD|EUR|GBP|CHF|INR|CAD|AUD|JPY|CNY|RMB)$/.test(word) &&
    /^\s*[-\d.]/.test(lexer.source.slice(lexer.token.end, lexer.token.end + 3))
  ) {
    lexer.next();
    return { kind: "quantity", value: p.primary(), unit: parseUnit(word) as Unit };
  }
  const ordinal = ordinalWord(lower);
  if (ordinal !== undefined) {
    lexer.next();
    return number(ordinal);
  }
  if (word.length <= 3 && /^[a-z]+$|^[A-Z]+$/.test(word) && !ENGLISH.test(word) && !isInProse(p))
    return productOfLetters(p, word);
  return p.fail(`unknown word '${word}'`);
}

/** Whether another word follows or precedes the current one: variables are not written like that. */
function isInProse(p: Parser): boolean {
  const { token, source } = p.lexer;
  const before = /(?:^|\s)([a-zA-Z]{2,}|a|I)\s+$/.exec(source.slice(Math.max(0, token.start - 30), token.start))?.[1];
  const after = /^\s+([a-zA-Z]{2,})(?![a-zA-Z])/.exec(source.slice(token.end, token.end + 30))?.[1];
  return [before, after].some(
    (word) => word !== undefined && !(word in FUNCTIONS) && !GREEK.has(word) && !isConnective(word) && !parseUnit(word),
  );
}
