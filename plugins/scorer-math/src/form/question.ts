/** Formulas of a question. */
import { mathRegions } from "../extract/regions.ts";
import { read } from "../read/read.ts";
import { FUNCTIONS } from "../read/token.ts";
import type { Node } from "../tree/node.ts";
import { children } from "../tree/walk.ts";
import { Work, WorkExhausted } from "../work.ts";
import { isComputation, written } from "./written.ts";

const LONGEST_QUESTION = 8000;
const MOST_FORMULAS = 64;
const WORK_LIMIT = 50_000;

/** Returns the spellings of all quantities of the question, and of all parts that have an operation, a relation or a named function. */
export function computationsOf(question: string): ReadonlySet<string> {
  const found = new Set<string>();
  const work = new Work(WORK_LIMIT);
  try {
    for (const [formula, isMath] of formulasOf(question.slice(0, LONGEST_QUESTION)).slice(0, MOST_FORMULAS)) {
      const { node, error } = read(formula, isMath, work);
      if (error === undefined) add(node, found, work);
    }
    for (const quantity of quantitiesOf(question.slice(0, LONGEST_QUESTION), work)) found.add(written(quantity));
  } catch (error) {
    if (!(error instanceof WorkExhausted) && !(error instanceof RangeError)) throw error;
  }
  return found;
}

function add(node: Node, found: Set<string>, work: Work): void {
  work.spend(4);
  if (isComputation(node)) found.add(written(node));
  for (const child of children(node)) add(child, found, work);
}

/** Words of plain mathematics; all other words of two letters or more end a formula. */
const isMathematical = (word: string): boolean =>
  word.length === 1 || word in FUNCTIONS || /^(?:sqrt|cbrt|pi|mod|inf|infinity|or|and)$/.test(word);

/** Returns the formulas between delimiters, and the runs of digits, signs, letters and functions in the prose. */
function formulasOf(question: string): readonly (readonly [formula: string, isMath: boolean])[] {
  const regions = mathRegions(question);
  const formulas = regions.map(({ content }) => [content, true] as const);
  let prose = "";
  let from = 0;
  for (const { start, end } of regions) {
    prose += `${question.slice(from, start)}\n`;
    from = end;
  }
  prose += question.slice(from);
  const runs = prose
    .replace(/\\?[a-zA-Z]{2,}/g, (word) => (word.startsWith("\\") || isMathematical(word) ? word : "\n"))
    .split(/\n|[?:;!]|[.,](?=\s|$)/)
    .map((run) => run.replace(/^[\s,.]*(?:(?:and|or|a|A|I)\b[\s,.]*)*|[\s,.]*(?:\b(?:and|or|a)\b[\s,.]*)*$/g, ""))
    .filter((run) => /[-+*/^=<>(×·÷√]|\\|[a-z]{3}/.test(run));
  return [...formulas, ...runs.map((run) => [run, false] as const)];
}

const QUANTITY = /\d[\d.,]*(?::\d+|(?:\\text\{[^{}]{1,20}\}|[^\d,;:?!\n]){1,24})/g;

/** Returns the numbers with a unit behind them, and the ratios. */
function quantitiesOf(question: string, work: Work): readonly Node[] {
  const runs = (question.replaceAll("$", "").match(QUANTITY) ?? []).slice(0, MOST_FORMULAS);
  return runs.flatMap((run) => {
    const words = run
      .trim()
      .replace(/\.$/, "")
      .split(/(?<=\S)\s+/)
      .slice(0, 4);
    // All beginnings: in "3 feet in inches" the longest has the unit "feet in inches".
    return words.flatMap((_, last) => {
      const { node, error } = read(words.slice(0, last + 1).join(" "), false, work);
      return error === undefined && (node.kind === "quantity" || node.kind === "ratio") ? [node] : [];
    });
  });
}

/** Whether a question has a word: a formula alone may be the answer to itself. */
const hasWord = (question: string): boolean =>
  (question.match(/[a-z]{3,}/gi) ?? []).some((word) => !isMathematical(word));

/** Whether the text of an answer ends with the whole question, without regard to markup, punctuation and case. */
export function repeatsQuestion(answer: string, question: string): boolean {
  if (question.length > LONGEST_QUESTION || !hasWord(question)) return false;
  const asked = bare(question);
  // Markup around the question has few characters.
  return bare(answer.slice(-2 * question.length - 200)).endsWith(asked);
}

function bare(text: string): string {
  return text
    .toLowerCase()
    .replace(/<\/?[\w-]{1,40}>|\\(?:boxed|fbox|text)(?![a-z])/g, "")
    .replace(/[^\p{L}\p{N}+*/^=<>-]+/gu, "");
}
