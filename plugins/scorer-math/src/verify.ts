/** Comparison of an answer with a reference. */
import { compareMoments } from "./compare/clock.ts";
import { withConstantsOf } from "./compare/integration.ts";
import { asChoice } from "./compare/choice.ts";
import { compareNodes } from "./compare/compare.ts";
import type { Context } from "./compare/context.ts";
import { renamed } from "./compare/rename.ts";
import { compareTexts } from "./compare/text.ts";
import { extract } from "./extract/extract.ts";
import type { Extraction } from "./extract/extraction.ts";
import type { VerifyOptions } from "./options.ts";
import { missingForm } from "./form/check.ts";
import { repeatsQuestion } from "./form/question.ts";
import { read, type Reading } from "./read/read.ts";
import { variables } from "./tree/walk.ts";
import { show } from "./tree/show.ts";
import type { Node } from "./tree/node.ts";
import { badReference, different, equivalent, notComputed, undecided, unreadable, type Outcome } from "./verdict.ts";
import { Work, WorkExhausted } from "./work.ts";

/** A verdict with the reason, the method that decided, and both answers as they were read. */
export type Verification = Outcome & {
  /** The reference as it was read. */
  readonly expected: string;
  /** The answer as it was read; empty when the text has none. */
  readonly answer: string;
  /** The answer as written in the text; undefined when the text has none. */
  readonly extracted?: string;
  /** Steps of work that the verdict took; deterministic. */
  readonly work: number;
};

/** Steps for one verdict: some ten milliseconds. */
export const WORK_LIMIT = 100_000;

/**
 * Compares a reference with an answer; both may be whole texts, in which the answer is looked for. Never throws, and
 * the same input always gives the same verdict after the same number of steps.
 */
export function verify(expected: string, answer: string, options: VerifyOptions = {}): Verification {
  const result = verifyOnce(expected, answer, options);
  const { form, question } = options;
  const isCopy = result.verdict === "equivalent" && form !== "equivalent" && question !== undefined;
  if (isCopy && repeatsQuestion(answer, question)) return { ...result, ...notComputed("the answer is the question") };
  const isOpen = result.verdict === "undecided" || result.method === "budget";
  if (!isOpen || canDecide(expected, options)) return result;
  return {
    ...result,
    ...badReference(result.method, `the reference cannot be compared with itself: ${result.reason}`),
  };
}

/** Whether a reference is compared with itself within half of the budget. */
function canDecide(expected: string, options: VerifyOptions): boolean {
  const { verdict, work } = verifyOnce(expected, expected, { ...options, schema: "any", mode: "lenient" });
  return verdict === "equivalent" && work <= WORK_LIMIT / 2;
}

function verifyOnce(expected: string, answer: string, options: VerifyOptions): Verification {
  const work = new Work(WORK_LIMIT);
  const schema = options.schema === undefined ? {} : { schema: options.schema };
  const mode = options.mode === undefined ? {} : { mode: options.mode };
  const reference = extract(expected, { isReference: true });
  const given = extract(answer, { ...schema, ...mode });
  const finish = (outcome: Outcome, expectedForm: string, answerForm: string): Verification => ({
    ...outcome,
    expected: expectedForm.slice(0, LONGEST_SHOWN),
    answer: answerForm.slice(0, LONGEST_SHOWN),
    ...(given.found ? { extracted: given.answer } : {}),
    work: work.spent,
  });
  if (!reference.found)
    return finish(badReference("extraction", `the reference holds no answer: ${reference.reason}`), "", "");
  if (!given.found) return finish(different("extraction", given.reason), reference.answer, "");
  if (expected.trim() === given.answer || answer.trim() === reference.answer)
    return finish(equivalent("identical", "the same text"), reference.answer, given.answer);
  if (isAsked(given) && !isAsked(reference))
    return finish(different("extraction", "the answer is hedged"), reference.answer, given.answer);
  const left = readWithin(reference, work);
  if (left === undefined)
    return finish(badReference("budget", "the reference takes too long to read"), reference.answer, given.answer);
  const right = readWithin(given, work);
  if (right === undefined) return finish(unreadable("budget", "it takes too long"), reference.answer, given.answer);
  try {
    const outcome = decide(left, right, reference, given, options, work);
    return finish(outcome, show(left.node), show(right.node));
  } catch (error) {
    const reason = overrun(error);
    if (reason === undefined) throw error;
    return finish(undecided("budget", reason), reference.answer, given.answer);
  }
}

const LONGEST_SHOWN = 2000;

type Found = Extraction & { found: true };

/** Whether an answer ends with a question mark. */
const isAsked = ({ answer }: Found): boolean => /\?[\s$}.]*$/.test(answer.slice(-20));

/** Returns the reading of an extracted text; undefined where it exceeds the budget of work. */
function readWithin({ answer, isMath }: Found, work: Work): Reading | undefined {
  try {
    return read(answer, isMath, work);
  } catch (error) {
    if (overrun(error) === undefined) throw error;
    return undefined;
  }
}

/** Returns the reason of an error that states that a computation is too large; undefined for other errors. */
function overrun(error: unknown): string | undefined {
  if (error instanceof WorkExhausted) return error.message;
  return error instanceof RangeError ? "nested too deeply or too large" : undefined;
}

function decide(
  left: Reading,
  right: Reading,
  reference: Found,
  given: Found,
  options: VerifyOptions,
  work: Work,
): Outcome {
  if (reference.answer === given.answer) return equivalent("identical", "the same text");
  const moment = compareMoments(reference.answer, given.answer);
  if (moment) return moment;
  const choice = compareChoices(reference, given, options, work);
  if (choice) return choice;
  if (left.error !== undefined || right.error !== undefined) {
    const words = compareTexts(reference.answer, given.answer);
    // Words have neither signs nor operators: `*8` is not -8, and `5-` is not `-5`.
    const isInWords = left.error === undefined ? left.node.kind === "text" : !isMathematics(reference.answer);
    if (words.verdict === "equivalent" && (isInWords || signsOf(reference.answer) === signsOf(given.answer)))
      return words;
    if (
      (left.error === undefined && left.node.kind === "text") ||
      (right.error === undefined && right.node.kind === "text")
    )
      return words;
    if (left.error !== undefined && isMathematics(reference.answer))
      return badReference("reading", `the reference cannot be read: ${left.error}`);
    if (right.error !== undefined && isMathematics(given.answer)) return unreadable("reading", right.error);
  }
  const context: Context = { options, work, compare: (a, b) => compareNodes(context, a, b) };
  const commas = compareDecimalCommas(reference.answer, given.answer, context);
  if (commas?.verdict === "equivalent") return commas;
  const outcome = commas ?? compareReadings(left.node, right.node, given, context);
  const { form = "auto", question } = options;
  if (outcome.verdict !== "equivalent" || form === "equivalent") return outcome;
  const equals = (value: Node, answer: Node): boolean => context.compare(value, answer).verdict === "equivalent";
  const missing = missingForm({ expected: left.node, answer: right.node, form, question, work, equals });
  return missing === undefined ? outcome : notComputed(missing);
}

function compareReadings(expected: Node, answer: Node, given: Found, context: Context): Outcome {
  const outcome = context.compare(expected, answer);
  if (outcome.verdict === "equivalent") return underItsName(expected, answer, given, context) ?? outcome;
  for (const renaming of [
    ...underItsArgument(expected, answer, given, context),
    ...withConstantsOf(expected, answer),
  ]) {
    const again = context.compare(expected, renaming);
    if (again.verdict === "equivalent") return again;
  }
  if (context.options.strict !== false) return outcome;
  return context.compare(renamed(expected), renamed(answer));
}

/** Returns the answer `f(t) = \boxed{t^2}` as a definition, beside a reference that defines a function. */
function underItsArgument(expected: Node, answer: Node, given: Found, context: Context): readonly Node[] {
  if (given.name === undefined || expected.kind !== "relation" || answer.kind === "relation") return [];
  const { node: name } = read(given.name, true, context.work);
  return expected.operands[0]?.kind === "call" && name.kind === "call"
    ? [{ kind: "relation", operators: ["="], operands: [name, answer] }]
    : [];
}

/** Compares `\frac{EA}{CE} = \boxed{\frac43}` with `CE:EA = 4:3` under the name of the box, if both names have the same letters. */
function underItsName(expected: Node, answer: Node, given: Found, context: Context): Outcome | undefined {
  if (
    given.name === undefined ||
    expected.kind !== "relation" ||
    expected.operators[0] !== "=" ||
    answer.kind === "relation"
  )
    return undefined;
  const { node: name, error } = read(given.name, true, context.work);
  const wanted = expected.operands[0] as Node;
  if (error !== undefined || name.kind === "text" || show(name) === show(wanted)) return undefined;
  const [a, b] = [wanted, name].map((node) =>
    [...variables(node)]
      .map((letter) => letter.replace(/'/g, ""))
      .sort()
      .join(),
  );
  const areUnknowns = [a, b].every((names) => /^[xyz]$/.test(names as string));
  if (a === "" || (a !== b && !areUnknowns)) return undefined;
  return context.compare(expected, { kind: "relation", operators: ["="], operands: [name, answer] });
}

/** Returns the signs and digits of a text, with one letter in place of words, without delimiters and the punctuation at the end. */
function signsOf(source: string): string {
  return source
    .replace(/\\(?:text|mathrm|textbf|mathbf|mbox|textit|quad|left|right|[,;! ])|[$.\s]+$/g, "")
    .replace(/[$"“”]/g, "")
    .replace(/[a-zA-Z\s]+/g, "a");
}

/** Whether unreadable text is a formula rather than words. */
function isMathematics(source: string): boolean {
  return (
    /\\[a-zA-Z]+/.test(source.replace(/\\(?:text|mathrm|textbf|mbox|textit|quad|,|;|!| )/g, "")) ||
    (/[\d=<>^]/.test(source) && !/[a-z]{4}/i.test(source))
  );
}

/**
 * Compares choices. Two letters decide; the text of a choice is compared if the other side has no letter. Undefined when
 * neither side is a choice.
 */
function compareChoices(reference: Found, given: Found, options: VerifyOptions, work: Work): Outcome | undefined {
  const left = asChoice(reference.answer);
  const right = asChoice(given.answer);
  if (left && right) {
    if (left.rest !== "" && right.rest !== "") return undefined;
    return left.letter === right.letter
      ? equivalent("choice", "the same choice")
      : different("choice", "another choice");
  }
  const choice = left ?? right;
  if (!choice || choice.rest === "") return undefined;
  const [a, b] = (left ? [choice.rest, given.answer] : [reference.answer, choice.rest]) as [string, string];
  const isMath = reference.isMath || given.isMath;
  return decide(
    read(a, isMath, work),
    read(b, isMath, work),
    { ...reference, answer: a },
    { ...given, answer: b },
    options,
    work,
  );
}

/** Compares `3,14` with `3.14`: a decimal comma, where a comma otherwise separates two numbers. */
function compareDecimalCommas(expected: string, answer: string, context: Context): Outcome | undefined {
  const [a, b] = [expected, answer].map((text) => text.replace(/[$\s]|\.$/g, "")) as [string, string];
  const isComma = (text: string): boolean => /^[-+]?\d+,\d+$/.test(text) && !/^[-+]?[1-9]\d{0,2},\d{3}$/.test(text);
  // If the other side is a fraction, a comma does not separate a list.
  const isFraction = (text: string): boolean => /^[-+]?(?:\d+\/\d+|\\[dt]?frac\{?\d+\}?\{?\d+\}?)$/.test(text);
  const isPoint = (text: string): boolean => /^[-+]?\d*\.\d+$/.test(text) || isFraction(text);
  if (!(isComma(a) && isPoint(b)) && !(isPoint(a) && isComma(b))) return undefined;
  const [left, right] = [a, b].map((text) => read(text.replace(",", "."), false, context.work).node) as [Node, Node];
  return context.compare(left, right);
}
