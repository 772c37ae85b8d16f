import { type Message, textMessage } from "@mrlm/kit";
import { CONDITIONS } from "./conditions.ts";
import { codeOf } from "./language.ts";
import type { ConsultationOptions } from "./options.ts";
import type { PublicCase } from "./tasks.ts";

const list = (items: readonly string[]): string => items.join(", ");
const nothing = "(no answer)";

/** Returns the first message to the doctor: the rules and the complaint. */
export function openingOf({ complaint }: PublicCase, options: ConsultationOptions): Message {
  const { style, questions, conditions } = options;
  if (style === "terse") return textMessage("user", codeOf(complaint, options));
  const names = CONDITIONS.slice(0, conditions).map(({ name }) => name);
  return textMessage(
    "user",
    `You are a doctor. Ask the patient up to ${questions} questions, one finding at a time, each to be answered with yes or no. Then write "Diagnosis: " and one of these: ${list(names)}.\n\nThe patient reports: ${complaint}. Ask your first question.`,
  );
}

/** Returns the patient's answer to the doctor. */
export function answerTo(answer: string, options: ConsultationOptions, isLast: boolean): Message {
  if (options.style === "terse") return textMessage("user", `${answer.trim() || "-"}${isLast ? "?" : ""}`);
  return textMessage("user", `${answer.trim() || nothing}${isLast ? "\n\nGive your diagnosis now." : ""}`);
}

/** Returns the doctor's question to the patient, the first time with the case. */
export function questionTo(
  question: string,
  { present, absent }: PublicCase,
  options: ConsultationOptions,
  isFirst: boolean,
): Message {
  const asked = question.trim();
  if (options.style === "terse") {
    const has = present.map((each) => codeOf(each, options)).join("");
    return textMessage("user", `${isFirst ? `${has}:` : ""}${asked || "-"}`);
  }
  const rules = `You are a patient who talks to a doctor. You have: ${list(present)}. You do not have: ${list(absent)}. Answer each question truthfully, beginning with yes or no. You do not know your diagnosis.\n\nThe doctor asks: `;
  return textMessage("user", `${isFirst ? rules : ""}${asked || "(no question)"}`);
}
