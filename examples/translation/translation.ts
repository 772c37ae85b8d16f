import {
  definePlugin,
  generatedTasks,
  type JsonObject,
  type Judge,
  type JudgeRequest,
  messageText,
  score,
  singleTurn,
  type Task,
} from "@mrlm/kit";
import { z } from "zod";
import { fixtures } from "./fixtures.ts";

/** German nouns with their article and their English word. */
const NOUNS = [
  ["der", "Hund", "dog"],
  ["der", "Garten", "garden"],
  ["die", "Katze", "cat"],
  ["die", "Lampe", "lamp"],
  ["das", "Haus", "house"],
  ["das", "Buch", "book"],
] as const;
const COLORS = { rote: "red", alte: "old", kleine: "small", neue: "new", graue: "gray" };
const VERBS = { findet: "finds", sucht: "seeks", kauft: "buys", braucht: "needs" };
const TIMES = { heute: "today", morgen: "tomorrow", jetzt: "now", wieder: "again", oft: "often" };
const ACCUSATIVE = { der: "den", die: "die", das: "das" };

type Text = { german: string };
type Reference = { english: string };

const tasks = () =>
  generatedTasks<Text, Reference>({
    seed: 0,
    splits: { train: { size: 5_000, share: 9 }, eval: { size: 200, share: 1 } },
    generate(random) {
      const [one, other] = random.shuffle(NOUNS) as unknown as [(typeof NOUNS)[number], (typeof NOUNS)[number]];
      const pick = (words: Readonly<Record<string, string>>) => random.pick(Object.entries(words));
      const [first, second, verb, time] = [pick(COLORS), pick(COLORS), pick(VERBS), pick(TIMES)];
      const ending = other[0] === "der" ? `${second[0]}n` : second[0];
      const object = `${ACCUSATIVE[other[0]]} ${ending} ${other[1]}`;
      const german = `${one[0]} ${first[0]} ${one[1]} ${verb[0]} ${time[0]} ${object}.`;
      const english = `The ${first[1]} ${one[2]} ${verb[1]} the ${second[1]} ${other[2]} ${time[1]}.`;
      return { public: { german: german.replace(/^d/, "D") }, private: { english }, key: german };
    },
  });

/** Returns the runs of characters of a text, spaces apart. */
function gramsOf(text: string, length: number): string[] {
  const letters = text.replaceAll(/\s/g, "");
  return Array.from({ length: Math.max(0, letters.length - length + 1) }, (_, i) => letters.slice(i, i + length));
}

/** Returns chrF (Popović, 2015): the F-score of runs of 1 to 6 characters, with recall weighted twice, from 0 to 1. */
function chrF(text: string, reference: string): number {
  const scores = [1, 2, 3, 4, 5, 6].map((length) => {
    const [given, wanted] = [gramsOf(text, length), gramsOf(reference, length)];
    const counts = Map.groupBy(wanted, (gram) => gram);
    const shared = given.filter((gram) => counts.get(gram)?.pop() !== undefined).length;
    return [shared / Math.max(1, given.length), shared / Math.max(1, wanted.length)] as const;
  });
  const [precision, recall] = [0, 1].map((i) => scores.reduce((sum, each) => sum + (each[i] as number), 0) / 6);
  return shareOf(precision as number, recall as number);
}

function shareOf(precision: number, recall: number): number {
  return precision + recall === 0 ? 0 : (5 * precision * recall) / (4 * precision + recall);
}

/** Grades a translation by chrF. Another sentence of the same words has up to 0.7: only what is above counts. */
const likeness: Judge = {
  async judge({ turns, agents, task }: JudgeRequest) {
    const text = turns.map(({ message }) => messageText(message).trim()).join(" ");
    const value = Math.max(0, (chrF(text, (task as Task<Text, Reference>).private.english) - 0.7) / 0.3);
    const rewards = Object.fromEntries(agents.map((agent) => [agent, score(value)]));
    return { rewards, verdict: "scored", reason: "compared with a reference" };
  },
};

const RUBRIC = [
  { name: "translation", description: "The English sentence has the meaning of the German one.", weight: 1 },
];

const translation = singleTurn({
  id: "translation@1",
  description: "Translate a sentence from German into English.",
  options: z.strictObject({ judge: z.enum(["chrf@1", "llm@2"]).default("chrf@1") }),
  requires: (_context, { judge }) => [{ id: `judge:${judge}`, asker: "the option `judge` of translation@1" }],
  tasks,
  prompt: ({ german }) => `Translate into English: ${german}`,
  answer: ({ private: { english } }) => english,
  async score(_text, task, { context, options: { judge }, message, signal }) {
    const options: JsonObject = judge === "llm@2" ? { mode: "pointwise", rubric: RUBRIC } : {};
    const turns = [{ agent: "agent", message }];
    const request = { question: task.public.german, turns, agents: ["agent"], task, options };
    return (await context.judge(judge).judge(request, { signal })).rewards["agent"] ?? 0;
  },
  fixtures,
});

export default definePlugin({
  name: "translation-environment",
  environments: [translation],
  judges: { "chrf@1": () => likeness },
});
