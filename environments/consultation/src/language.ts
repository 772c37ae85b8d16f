import { CONDITIONS, type Finding, findingsOf } from "./conditions.ts";
import type { ConsultationOptions } from "./options.ts";

/** Options that decide how messages are read. */
export type Style = Pick<ConsultationOptions, "style" | "conditions">;

const letterAt = (index: number): string => String.fromCharCode("a".charCodeAt(0) + index);

/** Returns the code of a finding: `a` for the first, `b` for the second, ... */
export function codeOf(name: string, { conditions }: Style): string {
  return letterAt(findingsOf(conditions).findIndex((each) => each.name === name));
}

/** Returns the names of the findings that a question asks for. */
export function findingsIn(question: string, { style, conditions }: Style): string[] {
  const findings = findingsOf(conditions);
  const isAsked = (each: Finding, i: number): boolean =>
    style === "terse" ? question.trim() === letterAt(i) : each.words.test(question);
  return findings.filter(isAsked).map(({ name }) => name);
}

/** Returns whether an answer is yes or no: its first word. `undefined` if it is neither. */
export function polarityOf(answer: string): boolean | undefined {
  const [, yes, no] = /^[^a-z]*(?:(yes|y)|(no|n))\b/i.exec(answer) ?? [];
  return yes === undefined && no === undefined ? undefined : yes !== undefined;
}

/** Returns the text of a diagnosis. Messages other than the doctor's last have one only after `Diagnosis:`, or in the style `terse` if they are a number. */
export function diagnosisIn(text: string, { style }: Style, isLast: boolean): string | undefined {
  const given = style === "terse" ? /^\s*\d+\s*$/.exec(text)?.[0] : /\bdiagnosis\s*:([^]*)/i.exec(text)?.[1];
  return (given ?? (isLast ? text : undefined))?.trim();
}

/** Returns the number, from 1, of the condition that a diagnosis names. `undefined` if it names none or several. */
export function conditionIn(diagnosis: string, { style, conditions }: Style): number | undefined {
  const known = CONDITIONS.slice(0, conditions);
  const named =
    style === "terse"
      ? known.filter((_, i) => diagnosis === String(i + 1))
      : known.filter(({ name, aliases }) => [name, ...aliases].some((each) => hasPhrase(diagnosis, each)));
  const [condition, ...others] = named;
  return condition === undefined || others.length > 0 ? undefined : CONDITIONS.indexOf(condition) + 1;
}

function hasPhrase(text: string, phrase: string): boolean {
  return ` ${text.toLowerCase().replaceAll(/[^a-z]+/g, " ")} `.includes(` ${phrase} `);
}
