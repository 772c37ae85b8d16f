/** Finds the answer in the text of a model. */
import { joinBoxes, lastBoxes, nameBefore, unitBehind } from "./boxed.ts";
import { denial, hasOtherValue, ownDoubt } from "./denial.ts";
import type { AnswerSource, Extraction } from "./extraction.ts";
import { labelledValues } from "./labels.ts";
import { findInProse, isValue } from "./prose.ts";
import { mathRegions } from "./regions.ts";
import { ownTurn } from "./turn.ts";

/** Place of an answer. Any other string is the name of a tag. */
export type AnswerSchema = "any" | "boxed" | "answer" | "gsm8k" | "text" | (string & {});

export type ExtractOptions = {
  /**
   * `any` (default) tries `<answer>`, then `\boxed{}`, `####`, "the answer is ...", and then the text itself. `boxed`,
   * `gsm8k` (`####`) and a tag's name (`answer`, ...) ask for that form, `text` takes the whole text.
   */
  readonly schema?: AnswerSchema;
  /**
   * `strict`: the form that `schema` names and nothing else, closed and not empty; `any` then means a tag, box or
   * `####`. `lenient` (default): also an unclosed tag or box, and with none of them the forms that `any` tries.
   */
  readonly mode?: "strict" | "lenient";
  /** Whether the text is a reference, in which denials and hedges are not searched for. */
  readonly isReference?: boolean;
};

/** Maximal length in characters. The beginning of a longer text is ignored. */
const LONGEST_TEXT = 200_000;

export function extract(text: string, options: ExtractOptions = {}): Extraction {
  const result = search(text, options);
  const doubt = result.found && options.isReference !== true ? ownDoubt(result.answer) : undefined;
  return doubt === undefined ? result : missing(doubt);
}

function search(text: string, { schema = "any", mode = "lenient", isReference = false }: ExtractOptions): Extraction {
  const source = prepare(text);
  const isStrict = mode === "strict";
  if (source.trim() === "") return missing("the text is empty");
  if (schema === "text") return found(source, false, "text");
  const named = schema === "any" ? undefined : bySchema(source, schema, isStrict, isReference);
  if (named && (named.found || isStrict || named.reason !== NOTHING)) return named;
  const closing = isStrict ? undefined : fromClosing(source, isReference);
  if (closing) return closing;
  for (const form of ["answer", "boxed", "gsm8k"]) {
    const result = form === schema ? undefined : bySchema(source, form, true, isReference);
    if (result && (result.found || result.reason !== NOTHING)) return result;
  }
  if (isStrict) return missing(NOTHING);
  return findInProse(source, isReference);
}

const NOTHING = "no answer in the form that was asked for";

function missing(reason: string): Extraction {
  return { found: false, reason };
}

function found(answer: string, isMath: boolean, source: AnswerSource): Extraction {
  const trimmed = answer.trim();
  return trimmed === "" ? missing("the answer is empty") : { found: true, answer: trimmed, isMath, source };
}

/** Returns the end of a text that is too long, limited to the answer of the model. */
function prepare(text: string): string {
  return ownTurn(text.length > LONGEST_TEXT ? text.slice(-LONGEST_TEXT) : text);
}

function bySchema(source: string, schema: string, isStrict: boolean, isReference: boolean): Extraction {
  if (schema === "boxed") return fromBoxes(source, isReference);
  if (schema === "gsm8k" || schema === "####") return fromHashes(source);
  return fromTag(source, schema, isStrict, isReference);
}

function fromTag(source: string, tag: string, isStrict: boolean, isReference: boolean): Extraction {
  if (!/^[\w-]{1,40}$/.test(tag)) return missing(`no tag can be named ${JSON.stringify(tag.slice(0, 40))}`);
  // ASCII only: a case change of other letters may change their length, and with it all later indices.
  const lower = source.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const open = `<${tag.toLowerCase()}>`;
  const close = `</${tag.toLowerCase()}>`;
  const end = lower.lastIndexOf(close);
  const start = lower.lastIndexOf(open, end < 0 ? undefined : end);
  if (start < 0 || (end < 0 && isStrict)) return missing(NOTHING);
  const content = withoutEmphasis(source.slice(start + open.length, end < start ? undefined : end));
  if (content.trim() === "") return missing("the answer is empty");
  if (!isReference && isContradicted(content)) return missing("another value stands beside the answer");
  const inner =
    /\\(?:boxed|fbox)|\$|\\[([]/.test(content) || hasSentence(content)
      ? extract(content, { isReference })
      : found(content, false, "tag");
  return inner.found ? { ...inner, source: "tag" } : inner;
}

/** Whether a value stands beside the last box or the last formula: `5 \\boxed{42}`, `5 $42$`. */
function isContradicted(content: string): boolean {
  const boxes = lastBoxes(content);
  const [first] = boxes;
  const last = boxes.at(-1);
  if (first && last) {
    const unit = unitBehind(content, last).replace(/^\\text\{ (.*)\}$/, "$1");
    const rest = content.slice(last.end);
    const behind = unit === "" ? -1 : rest.indexOf(unit);
    return hasOtherValue(content.slice(0, first.start), behind < 0 ? rest : rest.slice(behind + unit.length));
  }
  const regions = mathRegions(content);
  const [before, only] = regions.slice(-2);
  if (before && only) return content.slice(before.end, only.start).trim() === "";
  return before !== undefined && hasOtherValue(content.slice(0, before.start), content.slice(before.end));
}

/**
 * Returns true if a word is followed, after white space, by a digit in the same line or the next. It uses two searches: a pattern with two gaps takes cubic
 * time, and texts of a policy that repeats itself are long.
 */
function hasSentence(content: string): boolean {
  const lines = content.split("\n");
  return lines.some((line, i) => {
    const word = line.search(/[a-z]{3}/i);
    if (word < 0) return false;
    const rest = line.slice(word + 3);
    const gap = rest.search(/\s/);
    return (gap >= 0 && /\d/.test(rest.slice(gap + 1))) || /\d/.test(lines[i + 1] ?? "");
  });
}

function fromBoxes(source: string, isReference: boolean): Extraction {
  const boxes = lastBoxes(source);
  const [first] = boxes;
  const last = boxes.at(-1);
  if (!first || !last) return missing(NOTHING);
  if (!isReference) {
    const reason = denial(source.slice(0, first.start), source.slice(last.end), false);
    if (reason) return missing(reason);
    if (/^\s*(?:\\neq?(?![a-zA-Z])|≠|\\text\{\s*not\s*\}|not\s+[\d\\-])/i.test(first.content))
      return missing("the answer is denied");
  }
  if (boxes.length > 1) return found(joinBoxes(source, boxes), true, "boxed");
  if (/(?<!\\)\$|\\[([]/.test(last.content)) return inDelimiters(last.content, isReference);
  const explained = /^\s*\\text\{\s*([a-z]+(?: [a-z]+){0,3}),?\s(?:since|because|as)\b/i.exec(last.content)?.[1];
  if (explained !== undefined) return found(explained, false, "boxed");
  const answer = found(labelledValues(last.content) ?? last.content + unitBehind(source, last), true, "boxed");
  const name = /=\s*(?:\$|\\[([])?\s*$/.test(source.slice(Math.max(0, last.start - 8), last.start))
    ? nameBefore(source, last)
    : undefined;
  return answer.found && name !== undefined ? { ...answer, name } : answer;
}

const CLOSING = /\bfinal answer\b[*_\s]{0,9}(?:is\b|:|=)/gi;

/** Reads "The final answer is 42" behind the last box or `####`: the last word of the text. Undefined where there is none with a value. */
function fromClosing(source: string, isReference: boolean): Extraction | undefined {
  const start = Math.max(source.lastIndexOf("\\boxed"), source.lastIndexOf("\\fbox"), source.lastIndexOf("####"));
  if (start < 0 || source.includes("<answer>")) return undefined;
  const rest = source.slice(start);
  if (rest.search(CLOSING) < 0) return undefined;
  const closing = findInProse(rest.slice(rest.search(CLOSING)), isReference);
  return closing.found && (closing.isMath || isValue(closing.answer)) ? closing : undefined;
}

/** Reads a box around formulas with delimiters of their own, or around a sentence with formulas. */
function inDelimiters(content: string, isReference: boolean): Extraction {
  if (!isReference && isContradicted(content)) return missing("another value stands beside the answer");
  const regions = mathRegions(content);
  const [only] = regions;
  const around = only ? content.slice(0, only.start) + content.slice(only.end) : content;
  if (regions.length === 1 && only && /^[\s.,;]*$/.test(around)) return found(only.content, true, "boxed");
  const inner =
    regions.length === 0
      ? found(content.replace(/\\?\$|\\[()[\]]/g, ""), true, "boxed")
      : findInProse(content, isReference);
  return inner.found ? { ...inner, source: "boxed" } : inner;
}

/** Reads the answer of the form of GSM8K: `#### 18`. */
function fromHashes(source: string): Extraction {
  const start = source.lastIndexOf("####");
  if (start < 0) return missing(NOTHING);
  const line =
    source
      .slice(start + 4)
      .trimStart()
      .split("\n", 1)[0] ?? "";
  const price = line
    .trim()
    .replace(/^\$\s*(?=[\d.-])/, "")
    .replace(/^\$(.*)\$$/, "$1");
  return found(withoutEmphasis(price), false, "gsm8k");
}

/** Removes the marks of Markdown around an answer: `**20**`. */
function withoutEmphasis(content: string): string {
  const [, , inner] = /^\s*(\*\*|__|\*|`)([^*_`]+)\1\s*$/.exec(content) ?? [];
  return inner ?? content;
}
