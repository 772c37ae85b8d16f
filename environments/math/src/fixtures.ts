import { type Fixture, type FixturePolicy, placeAnswer } from "@mrlm/kit";
import { FAMILY_NAMES } from "./families/index.ts";
import type { Solution } from "./solution.ts";

type Request = Parameters<FixturePolicy>[0];

const solution = ({ task }: Request): Solution => task.private as unknown as Solution;
const tagged = (answer: string): string => placeAnswer(answer, "answer");
const gold: FixturePolicy = (request) => tagged(solution(request).answer);
const worked: FixturePolicy = (request) => [...solution(request).steps, tagged(solution(request).answer)].join("\n");
const repeated = ({ messages }: Request): string =>
  messages.flatMap(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : ""))).join("\n");

const sums = { families: ["arithmetic"], difficulty_range: [3, 5] };
const roots = { families: ["quadratics"], difficulty_range: 4 };

/** Episodes with a known outcome: every family, every place of an answer, and attempts to earn a reward without a solution. */
export const fixtures: readonly Fixture[] = [
  ...FAMILY_NAMES.map((family): Fixture => ({
    name: `${family}: the right answer`,
    kind: "gold",
    task: "train/0",
    options: { families: [family], difficulty_range: [1, 10] },
    policy: gold,
    reward: 1,
  })),
  ...["boxed", "gsm8k", "text", "result"].map((schema): Fixture => ({
    name: `the right answer as ${schema}`,
    kind: "gold",
    task: "eval/3",
    options: { answer_schema: schema },
    policy: (request) => placeAnswer(solution(request).answer, schema),
    reward: 1,
  })),
  {
    name: "right at the second attempt",
    kind: "gold",
    task: "train/1",
    options: { attempts: 2 },
    policy: (request) => (request.turn === 0 ? tagged("no idea") : gold(request)),
    reward: 1,
  },
  {
    name: "worked steps and the right answer",
    kind: "gold",
    task: "train/2",
    options: { families: ["multi_step"], rewards: { steps: 0.5, format: 0.25 } },
    policy: worked,
    reward: 1.75,
  },
  {
    name: "roots in the other order",
    kind: "gold",
    task: "train/0",
    options: roots,
    policy: (request) => tagged(solution(request).answer.split(", ").toReversed().join(", ")),
    reward: 1,
  },
  { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
  {
    name: "no answer in any attempt",
    kind: "nop",
    task: "train/0",
    options: { attempts: 3 },
    policy: () => "",
    reward: 0,
  },
  { name: "the question repeated", kind: "cheat", task: "train/2", options: sums, policy: repeated, reward: 0 },
  {
    name: "the question as the answer",
    kind: "cheat",
    task: "train/2",
    options: { families: ["linear"] },
    policy: ({ task }) => tagged(String(task.public["question"])),
    reward: 0,
  },
  {
    name: "every answer at once",
    kind: "cheat",
    task: "train/4",
    options: sums,
    policy: (request) => tagged(`1 or 2 or ${solution(request).answer}`),
    reward: 0,
  },
  {
    name: "one root of two",
    kind: "cheat",
    task: "train/0",
    options: roots,
    policy: (request) => tagged(solution(request).answer.split(", ")[0] as string),
    reward: 0,
  },
  {
    name: "an answer denied",
    kind: "cheat",
    task: "train/0",
    options: { ...sums, answer_schema: "boxed" },
    policy: (request) => `It is not \\boxed{${solution(request).answer}}.`,
    reward: 0,
  },
  {
    name: "a dropped leading zero",
    kind: "cheat",
    task: "train/0",
    options: { families: ["ordering"], difficulty_range: 9 },
    policy: (request) => tagged(solution(request).answer.slice(1)),
    reward: 0,
  },
  {
    name: "paid for failing in good form",
    kind: "cheat",
    task: "train/0",
    options: { ...sums, attempts: 5, rewards: { format: 0.1 } },
    policy: () => tagged("123456789"),
    reward: 0.1,
  },
  {
    name: "an answer out of its place",
    kind: "malformed",
    task: "train/0",
    options: { rewards: { malformed: -0.25 } },
    policy: (request) => solution(request).answer,
    reward: -0.25,
  },
  {
    name: "a tag that is never closed",
    kind: "malformed",
    task: "train/0",
    options: { rewards: { malformed: -0.25 } },
    policy: (request) => `<answer>${solution(request).answer}`,
    reward: -0.25,
  },
  {
    name: "the same twice",
    kind: "determinism",
    seed: 7,
    options: { attempts: 3 },
    policy: ({ turn }) => tagged(String(turn)),
  },
  {
    name: "the same task twice",
    kind: "determinism",
    task: "eval/5",
    seed: 1,
    options: { attempts: 2 },
    policy: repeated,
  },
];
