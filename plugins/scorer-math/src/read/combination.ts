/** Combinations and permutations as school books write them: `C_5^2`, `^5C_2`, `_5P_2`, `A_5^2`, `5C2`, `P(5, 2)`. */
import { call, number, type Node } from "../tree/node.ts";
import type { Parser } from "./state.ts";

const NUMBER = String.raw`(?:\{\s*(\d{1,4})\s*\}|(\d{1,4}))`;
const NAME = String.raw`(?:\\(?:mathrm|text|operatorname|mathbf|rm)\s*\{?\s*)?\{?\s*([CPA])\s*\}?`;
/** `^5C_2`, `_5C_2`, `{}_5C_2`, `{}^5C_2`. */
const BEFORE = new RegExp(String.raw`(?:\{\s*\})?\s*[_^]\s*${NUMBER}\s*${NAME}\s*_\s*${NUMBER}`, "y");
/** `C_5^2`, `C^2_5`: the lower number is the size of the set. */
const LOW_HIGH = new RegExp(String.raw`([CPA])\s*_\s*${NUMBER}\s*\^\s*${NUMBER}`, "y");
const HIGH_LOW = new RegExp(String.raw`([CPA])\s*\^\s*${NUMBER}\s*_\s*${NUMBER}`, "y");
/** `5C2`, `10P3`, of plain text. */
const BETWEEN = /(\d{1,4})([CP])(\d{1,4})(?![\w.])/y;

/** Reads the number at the current token, or undefined when it is no such notation. */
export function readCombination(p: Parser): Node | undefined {
  const { lexer } = p;
  const { kind, value } = lexer.token;
  const isNumber = kind === "number" && !p.isMath;
  const canBegin =
    kind === "letter" ? /[CPA]/.test(value) : kind === "operator" ? /[_^{]/.test(value) : isNumber || kind === "word";
  if (!canBegin) return undefined;
  const at = lexer.token.start;
  const find = (pattern: RegExp): readonly string[] | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(lexer.source);
    return match ? [match[0], ...match.slice(1).filter((group) => group !== undefined)] : undefined;
  };
  const before = find(BEFORE) ?? (isNumber ? find(BETWEEN) : undefined);
  const parts = before ? [before[0], before[2], before[1], before[3]] : undefined;
  const found = parts ?? find(LOW_HIGH) ?? swapped(find(HIGH_LOW));
  if (!found) return undefined;
  const [written, name, size, chosen] = found as [string, string, string, string];
  lexer.moveTo(at + written.length);
  return counted(name, number(BigInt(size)), number(BigInt(chosen)));
}

function swapped(parts: readonly string[] | undefined): readonly string[] | undefined {
  return parts && [parts[0] as string, parts[1] as string, parts[3] as string, parts[2] as string];
}

/** Returns n choose k for the letter C, and n!/(n - k)! for P and A. */
export function counted(letter: string, size: Node, chosen: Node): Node {
  const combinations = call("binomial", size, chosen);
  return letter === "C" ? combinations : { kind: "multiply", factors: [combinations, call("factorial", chosen)] };
}
