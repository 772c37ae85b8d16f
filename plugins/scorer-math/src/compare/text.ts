/** Answers in words: compared without case, articles, punctuation and markup. */
import type { Node } from "../tree/node.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";

/** Words that answers use for the same thing. */
const SYNONYMS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:(?:(?:this |given )?(?:equation|inequality|system|problem)s?(?: of equations)? )?(?:(?:has|have|admits?) )?no (?:real |such |integer )?(?:solutions?|answers?|roots?|values?)(?: exists?)?|none|empty set|no .*exists?|no such [a-z ]+|there (?:is|are) no (?:real )?solutions?|nothing|null set)$/,
    "none",
  ],
  [
    /^(?:(?:limit|value|sum|solution) )?(?:does not exist|dne|undefined|doesn'?t exist|not defined|diverges)$/,
    "undefined",
  ],
  [/^(?:impossible|not possible|cannot be done)$/, "impossible"],
  [/^none of (?:above|these|choices|options)$/, "none of these"],
  [/^(?:all (?:real )?numbers|all reals|any real number|every real number|all real values)$/, "all reals"],
  [/^(?:infinity|infinitely many|infinite|infinite(?:ly many)? solutions)$/, "infinite"],
  [/^(?:true|yes|correct)$/, "yes"],
  [/^(?:false|no|incorrect|wrong)$/, "no"],
];
/** A property with the kind of thing that has it: `odd function`. */
const PROPERTY =
  /^(odd|even|prime|composite|increasing|decreasing|convex|concave|isosceles|equilateral|scalene|acute|obtuse|rational|irrational|injective|surjective|bijective|continuous|convergent|divergent|periodic) (?:function|number|integer|triangle|polygon|sequence|series|map)$/;
const ARTICLES = /\b(?:the|a|an|is|are|it|its|option|choice|answer)\b/g;

/** Returns one spelling of an answer in words. */
export function normaliseText(value: string): string {
  const bare = value
    .slice(0, 4000)
    .replace(
      /\\(?:text|mathrm|textbf|mathbf|textit|textrm|textnormal|mbox|rm|bf|operatorname|mathit|emph|boldsymbol)\*?\s*(?=\{|\s)/g,
      "",
    )
    .replace(/\\[,;:! ]|~/g, " ")
    .replace(/[{}$*"“”]/g, "")
    // `Team A`: a name, and no article.
    .replace(/(?<=[a-z]\s)A(?=[\s.]*$)/, "(a)")
    .toLowerCase()
    .replace(/[-_]/g, " ")
    .replace(/(?<![.,;:!?])[.,;:!?]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  const plain = bare.replace(ARTICLES, " ").replace(/\s+/g, " ").trim().replace(PROPERTY, "$1") || bare;
  for (const [pattern, word] of SYNONYMS) if (pattern.test(plain) || pattern.test(bare)) return word;
  return plain.replace(/^\((.*)\)$/, "$1");
}

export function compareTexts(expected: string, answer: string): Outcome {
  const a = normaliseText(expected);
  const b = normaliseText(answer);
  if (a === b && a !== "") return equivalent("text", "the same words");
  if (a.replace(/\s/g, "") === b.replace(/\s/g, "") && a !== "") return equivalent("text", "the same words");
  if (a !== b && (isPluralOf(a, b) || isPluralOf(b, a))) return equivalent("text", "the same word in the plural");
  if ((a === "neither" && /^neither .* nor /.test(b)) || (b === "neither" && /^neither .* nor /.test(a)))
    return equivalent("text", "neither of two");
  const [left, right] = [expected, answer].map((text) =>
    text.split(/,(?:\s*(?:and|or)\b)?|\b(?:and|or)\b/).map(normaliseText),
  );
  const isList = left !== undefined && right !== undefined && left.length > 1 && left.length === right.length;
  if (isList && left.sort().join() === right.sort().join()) return equivalent("text", "the same words in a list");
  return different("text", "different words");
}

/** Whether a word is the plural of another one: `triangles` adds only the ending to `triangle`. */
function isPluralOf(plural: string, singular: string): boolean {
  return /[a-z]{3}[^s]$/.test(singular) && (plural === `${singular}s` || plural === `${singular}es`);
}

/** Returns the words of a node that is words, or letters that spell them; undefined for mathematics. */
export function wordsOf(node: Node): string | undefined {
  if (node.kind === "text") return node.value;
  if (node.kind === "symbol" || node.kind === "constant") return node.name;
  if (node.kind === "namedSet" && node.name === "empty") return "none";
  if (node.kind === "namedSet" && node.name === "reals") return "all reals";
  if (node.kind !== "multiply") return undefined;
  const letters = node.factors.map((factor) =>
    factor.kind === "symbol" || factor.kind === "constant"
      ? factor.name
      : factor.kind === "text"
        ? factor.value
        : undefined,
  );
  return letters.includes(undefined) ? undefined : letters.join("");
}
