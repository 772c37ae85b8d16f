import { type Fixture, type FixtureRequest, messageText } from "@mrlm/kit";
import { CONDITIONS, findingsOf } from "./conditions.ts";
import { codeOf, findingsIn } from "./language.ts";
import type { PrivateCase, PublicCase } from "./tasks.ts";

type Request = FixtureRequest<PublicCase, PrivateCase>;

const WORDS = { style: "words", conditions: CONDITIONS.length } as const;
const SMALL = { style: "terse", conditions: 4 } as const;

const nameOf = (task: Request["task"]): string => CONDITIONS[task.private.condition - 1]?.name as string;
const questionOf = ({ messages }: Request): string => {
  const text = messageText(messages.at(-1) as Request["messages"][number]);
  return text.split(/The doctor asks: |:/).at(-1) as string;
};
const roundOf = ({ messages }: Request): number => messages.filter(({ role }) => role === "assistant").length;

/** Asks for one finding after another and then makes the right diagnosis; answers truthfully. */
const words = (request: Request): string => {
  const { task, role } = request;
  if (role === "patient")
    return findingsIn(questionOf(request), WORDS).some((each) => task.public.present.includes(each)) ? "Yes." : "No.";
  const finding = findingsOf(WORDS.conditions)[roundOf(request)];
  return roundOf(request) < 4 ? `Do you have ${finding?.name}?` : `Diagnosis: ${nameOf(task)}`;
};
const terse = (request: Request): string => {
  const { task, role } = request;
  if (role === "patient")
    return findingsIn(questionOf(request), SMALL).some((each) => task.public.present.includes(each)) ? "y" : "n";
  const finding = findingsOf(SMALL.conditions)[roundOf(request)]?.name as string;
  return roundOf(request) < 2 ? codeOf(finding, SMALL) : String(task.private.condition);
};
const doctor =
  (write: (request: Request) => string) =>
  (request: Request): string =>
    request.role === "doctor" ? write(request) : words(request);
const allNames = CONDITIONS.map(({ name }) => name).join(", ");

export const fixtures: readonly Fixture<PublicCase, PrivateCase>[] = [
  { name: "four questions and the diagnosis", kind: "gold", task: "train/0", policy: words, reward: 1 },
  {
    name: "codes",
    kind: "gold",
    options: { ...SMALL, questions: 2 },
    task: "eval/1",
    policy: terse,
    reward: 1,
  },
  {
    name: "questions to a scripted patient",
    kind: "gold",
    task: "train/2",
    players: { patient: { scripted: "truthful" } },
    policy: words,
    reward: { doctor: 1, patient: 1 },
  },
  {
    name: "the diagnosis without a question",
    kind: "gold",
    task: "train/3",
    policy: ({ task }) => `Diagnosis: ${nameOf(task)}`,
    reward: { doctor: 0.8, patient: 0 },
  },
  { name: "no message", kind: "nop", task: "train/0", policy: () => "", reward: { doctor: 0, patient: 0 } },
  {
    name: "all diagnoses at once",
    kind: "cheat",
    task: "train/4",
    policy: doctor(() => `Diagnosis: ${allNames}`),
    reward: { doctor: 0, patient: 0 },
  },
  {
    name: "one question again and again",
    kind: "cheat",
    task: "train/5",
    policy: doctor((request) => (roundOf(request) < 4 ? "Have you a fever?" : "Diagnosis: none")),
    reward: { doctor: 0.05, patient: 1 },
  },
  {
    name: "all questions at once",
    kind: "cheat",
    task: "train/5",
    policy: doctor((request) => (roundOf(request) < 4 ? "Fever, cough, nausea?" : "Diagnosis: none")),
    reward: { doctor: 0, patient: 0 },
  },
  {
    name: "a patient that answers neither yes nor no",
    kind: "malformed",
    task: "train/6",
    policy: (request) => (request.role === "patient" ? "Perhaps." : words(request)),
    reward: { doctor: 1, patient: 0 },
  },
  {
    name: "a diagnosis without its form, as the last message",
    kind: "malformed",
    task: "train/7",
    policy: doctor((request) => (roundOf(request) < 4 ? words(request) : `It is ${nameOf(request.task)}.`)),
    reward: 1,
  },
  {
    name: "the same consultation twice",
    kind: "determinism",
    seed: 9,
    policy: ({ turn }) => ["Have you a fever?", "Yes.", "Diagnosis: gout"][turn] ?? "No.",
  },
];
