/** Rewrites of the source text that make one spelling of what LaTeX, Unicode and plain text write in many ways. */
import { withLocalNumbers } from "./local.ts";
import { toAscii } from "./unicode.ts";

const REWRITES: readonly (readonly [RegExp, string])[] = [
  [/\\(?:left|right|middle|[bB]igg?[lrm]?)(?![a-zA-Z])\.?/g, " "],
  [/(\d),\s?\\!\s*(?=\d{3}(?!\d))/g, "$1"],
  [/(\d)\{[,.]\}(?=\d)/g, "$1."],
  [/(?<!\\)\\[,;:!> ]/g, " "],
  [
    /\\(?:quad(?![a-zA-Z])|qquad(?![a-zA-Z])|(?:display|text|script)style(?![a-zA-Z])|(?:no)?limits(?![a-zA-Z])|thinspace(?![a-zA-Z])|allowbreak(?![a-zA-Z])|nonumber(?![a-zA-Z]))/g,
    " ",
  ],
  [
    /\\(?:textcolor|colorbox|color)(?![a-zA-Z])\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}|\\bbox\s*\[[^\]]*\]|\\math(?:open|close|inner|punct)(?![a-zA-Z])\s*(?:\{\s*\})?/g,
    " ",
  ],
  [/\\mu\s*\\(text|mathrm)\s*\{\s*(?=(?:m|s|g|L|l|A|V|W|F|J|N|mol)\s*\})/g, "\\$1{u"],
  [/(?<=\d\s*)(?:\\(?:text|mathrm)\s*\{\s*([kM])\s*\}|([kM]))?\s*\\(?:Omega|ohm)\s*$/g, "\\text{$1$2ohm}"],
  [/\\ldotp(?![a-zA-Z])\s*/g, "."],
  [/\\(?:h|v)space\*?\{[^{}]*\}|\\[hv]?phantom\{[^{}]*\}|\\(?:label|tag)\*?\{[^{}]*\}/g, " "],
  [/\\[dtc]frac(?![a-zA-Z])|\\(?:nice|s|x)frac(?![a-zA-Z])/g, "\\frac"],
  [/\\(?:left|right)?([lr])brace(?![a-zA-Z])/g, "\\$1brace"],
  [
    /(?<=\d)\s*\^\s*(?:\{\s*(?:\\(?:text|mathrm|rm)\s*\{\s*)?(?:st|nd|rd|th)\s*\}?\s*\}|\\(?:text|mathrm)\{\s*(?:st|nd|rd|th)\s*\})/g,
    "",
  ],
  // Words and a connective in one group: `3 \text{ cats and } 4`.
  [/\\(text|mathrm|textrm|mbox)\s*\{([^{}]*[a-z][^{}]*?),?\s(and|or)\s*\}(?=\s*[-+]?[\d\\])/gi, "\\$1{$2}\\$1{ $3 }"],
  [/~/g, " "],
];

/** Whether every command of the text is escaped twice, as in `\\frac{1}{2}` where `\frac{1}{2}` is meant. */
function isDoublyEscaped(source: string): boolean {
  return (
    /\\\\[a-zA-Z]/.test(source) && !/(?:^|[^\\])\\(?:begin|end)\{/.test(source) && !/(?:^|[^\\])\\[a-zA-Z]/.test(source)
  );
}

/** Undoes one doubled level of backslashes where the whole text has it. Row breaks of a matrix stay. */
export function unescape(source: string): string {
  if (!source.includes("\\\\")) return source;
  if (isDoublyEscaped(source)) return source.replace(/\\\\/g, "\\");
  if (source.includes("\\begin{")) return source;
  return source.replace(
    /\\\\(?=(?:frac|dfrac|tfrac|sqrt|left|right|le|ge|leq|geq|cup|cap|in|infty|pi|text|boxed|cdot|times|circ|pm|mathbb|ne|neq)(?![a-zA-Z]))/g,
    "\\",
  );
}

/** Unifies the spelling: ASCII and LaTeX commands, no spacing commands, no sized delimiters. Linear in the text's length. */
export function clean(source: string): string {
  let out = unescape(toAscii(source));
  if (/[\\~{]/.test(out)) {
    if (/\d(?:\\[,;: ]|\{,\})/.test(out)) out = joinSpacedDigits(out);
    for (const [pattern, replacement] of REWRITES) out = out.replace(pattern, replacement);
  }
  return withLocalNumbers(out).replace(TIMES_POWER_OF_TEN, " * ").trim();
}

/** The letter of `1.2 x 10^5`. */
const TIMES_POWER_OF_TEN = /(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))/g;

/** Joins digits: `1\,000\,000` and `1{,}000{,}000` are one number. */
function joinSpacedDigits(source: string): string {
  return source
    .replace(/(?<![\d.])(\d{1,3}(?:\.\d{3})+)\{,\}(?=\d)/g, (_, whole: string) => `${whole.replaceAll(".", "")}.`)
    .replace(/(?<![\d.])\d{1,3}(?:\\[,;: ]\s?\d{3})+(?!\d)/g, (run) => run.replace(/\\[,;: ]\s?/g, ""))
    .replace(/(?<![\d.])[1-9]\d{0,2}(?:\{,\}(?:\\!)?\d{3})+(?!\d)/g, (run) => run.replace(/\{,\}(?:\\!)?/g, ""));
}
