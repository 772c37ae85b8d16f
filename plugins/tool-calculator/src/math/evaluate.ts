import type { BigNumber, ConstantNode, MathNode, SymbolNode } from "mathjs";
import { checkExpression } from "./check-expression.ts";
import { EXACT_DIGITS, NotExact } from "./exact.ts";
import { formatValue, NUMBER_DIGITS, requireExact } from "./format-value.ts";
import { math } from "./instance.ts";
import { InvalidExpression } from "./invalid-expression.ts";
import { NUMBERS } from "./names.ts";

/**
 * Evaluates an expression: exactly if it is rational, else with 64 digits, else (functions that the library has for numbers of JavaScript only) with 15.
 * @throws Error with a message for the author of the expression
 */
export function evaluate(expression: string): string {
  const root = math.parse(expression);
  if (checkExpression(root)) {
    try {
      return evaluateExactly(root);
    } catch (error) {
      if (/division by zero/i.test(String(error))) throw new InvalidExpression("Division by zero");
    }
  }
  try {
    return formatFinite(root, run(root));
  } catch (error) {
    const approximation = approximate(root);
    if (approximation === undefined) throw error;
    return approximation;
  }
}

/** Throws InvalidExpression for an infinite or undefined result of an expression that does not contain these numbers itself. */
function formatFinite(root: MathNode, value: unknown): string {
  const text = formatValue(value);
  if (!NOT_FINITE.test(text) || NOT_FINITE.test(root.toString())) return text;
  throw new InvalidExpression(
    "The result is not a finite number: the expression divides by zero, is undefined, or exceeds the range of numbers",
  );
}

const NOT_FINITE = /NaN|Infinity/;

const run = (node: MathNode): unknown => node.compile().evaluate(new Map());

function evaluateExactly(root: MathNode): string {
  const result = run(root.transform((node) => (isDecimal(node) ? constant(fractionOf(node.value)) : node)));
  requireExact(result);
  return formatValue(result);
}

/** Evaluates with numbers of JavaScript. Returns undefined if this fails as well. */
function approximate(root: MathNode): string | undefined {
  try {
    const result = run(
      root.transform((node) => {
        if (isDecimal(node)) return constant(node.value.toNumber());
        const isNumber = node.type === "SymbolNode" && NUMBERS.has((node as SymbolNode).name);
        return isNumber ? constant(Number(run(node))) : node;
      }),
    );
    return `${formatFinite(root, result)} (${NUMBER_DIGITS} digits)`;
  } catch {
    return undefined;
  }
}

function isDecimal(node: MathNode): node is ConstantNode<BigNumber> {
  return node.type === "ConstantNode" && math.isBigNumber((node as unknown as { value: unknown }).value);
}

function constant(value: unknown): MathNode {
  return new math.ConstantNode(value as number);
}

function fractionOf(value: BigNumber): unknown {
  if (Math.abs(value.e) > EXACT_DIGITS) throw new NotExact("too many digits");
  const [whole = "0", decimals = ""] = value.toFixed().split(".");
  return math.fraction(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
}

/** Text within a limit. */
interface LimitedText {
  readonly text: string;
  readonly isTruncated: boolean;
}

/**
 * Truncates a text to a number of UTF-8 bytes, between two characters. The notice at its end, which counts, states the size of the whole text.
 * @param limitBytes at least 100
 */
export function limitText(text: string, limitBytes: number): LimitedText {
  // A UTF-16 unit has at most three bytes: most texts need no count.
  if (text.length * 3 <= limitBytes) return { text, isTruncated: false };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limitBytes) return { text, isTruncated: false };
  const notice = `\n[truncated: the whole result has ${bytes} bytes, the limit is ${limitBytes}]`;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, limitBytes - notice.length)));
  return { text: text.slice(0, read) + notice, isTruncated: true };
}
