/** Several values, each with a word: `length = 5, width = 3`, `max: 9, min: -3`, `2 apples and 3 pears`. */
import { parseUnit } from "../units/unit.ts";

const ITEM =
  /^(?:and\s+)?(?:the\s+)?((?:[a-z]+\s)?[a-z]{3,})(\s*[:=]\s*|\s+is\s+|\s+)(-?(?:[$€£]\s?)?\d[\d.,/]*)\s?(%|°|[a-zµ]{1,12}(?:\^?[23²³])?)?$/i;
/** Words that are no label: functions, and words of sentences. */
const NO_LABEL =
  /^(?:if|when|since|because|as|for|so|then|after|before|with|there|he|she|it|they|we|in|at|on|now)\s|(?:^|\s)(?:sqrt|sin|cos|tan|log|exp|or|not|is|are|has|have|had|gets?|than|by|to|of)$/i;
/** `2 apples`. */
const COUNT = /^(\d+) ([a-z]{3,}(?:\s[a-z]{3,})?)$/i;
const FULL: Readonly<Record<string, string>> = { max: "maximum", min: "minimum" };
const FORMULA = /[\^_+*]|\\(?!(?:text|mathrm|textrm|mbox)(?![a-z])|[%$])/;
const LONGEST = 200;

/** Returns the values as equations with their words as names, in LaTeX; undefined for any other text. */
export function labelledValues(written: string): string | undefined {
  if (written.length > LONGEST || !/[,;]|and/.test(written) || FORMULA.test(written) || !/[a-z]{3}/i.test(written))
    return undefined;
  // `$2$ apples`, `2 \text{ apples and } 3`
  const text = written
    .replace(/(?<!\\)\$(\d+)\$/g, "$1")
    .replace(/\\(?:text|mathrm|textrm|mbox)\s*\{([^{}]*)\}/g, " $1 ")
    .replace(/\s+/g, " ")
    .trim();
  if (!/^[a-z\d]/i.test(text)) return undefined;
  const parts = text
    .replace(/[.\s]+$/, "")
    .split(/[,;]\s+(?:and\s+)?|\s+and\s+/)
    .map((part) => part.trim());
  if (parts.length < 2) return undefined;
  const counts = parts.map((part) => COUNT.exec(part));
  if (counts.every((count) => count !== null))
    return asEquations(counts.map((count) => [count[2] as string, count[1] as string]));
  const items = parts.map((part) => ITEM.exec(part) ?? undefined);
  const names = new Set<string>();
  const equations: string[] = [];
  for (const item of items) {
    const [, label = "", sign = "", value = "", unit = ""] = item ?? [];
    if (label === "" || NO_LABEL.test(label) || (sign.trim() === "" && label.includes(" "))) return undefined;
    const name = FULL[label.toLowerCase()] ?? label.toLowerCase();
    names.add(name);
    equations.push(
      `\\text{${name}} = ${value.replace("$", "\\$")}${unit === "%" ? "\\%" : unit === "" ? "" : `\\text{ ${unit}}`}`,
    );
  }
  return names.size === items.length ? equations.join(", ") : undefined;
}

/** Returns counted things as equations; undefined if a word is a unit, is not a noun, or occurs twice. */
export function asEquations(items: readonly (readonly [noun: string, value: string])[]): string | undefined {
  const nouns = items.map(([noun]) => noun.toLowerCase());
  const isPlain =
    new Set(nouns).size === nouns.length && nouns.every((noun) => parseUnit(noun) === undefined && !NO_NOUN.test(noun));
  return isPlain ? items.map(([, value], i) => `\\text{${nouns[i]}} = ${value}`).join(", ") : undefined;
}

const NO_NOUN =
  /^(?:and|or|is|are|was|were|for|from|in|as|at|on|by|of|to|with|when|where|while|but|then|so|respectively|percent|more|less|times|plus|minus|hundred|thousand|million|billion|dozen)\b|^(?:possible |real |distinct |different )?(?:solutions?|roots?|values?|answers?)$/;
