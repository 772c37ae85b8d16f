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

const EVENTS = ["choir rehearsal", "chess evening", "book fair", "first aid course", "garden market", "film night"];
const PLACES = ["library", "old mill", "town hall", "school", "museum", "boathouse"];
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const WORDS = 25;

type Notice = { text: string };
type Facts = { now: string[]; before: string[] };

const splits = { train: { size: 5_000, share: 9 }, eval: { size: 200, share: 1 } };
const tasks = () =>
  generatedTasks<Notice, Facts>({
    seed: 0,
    splits,
    generate(random) {
      const event = random.pick(EVENTS);
      const [[day = "", oldDay = ""], [place = "", oldPlace = ""]] = [random.shuffle(DAYS), random.shuffle(PLACES)];
      const price = random.integer(2, 40);
      const oldPrice = price + random.integer(1, 9);
      const [opening, ...others] = [
        `Dear neighbors, this is about the ${event}.`,
        ...random.shuffle([
          `We had announced ${oldDay}, but so many of you were away then that it will be on ${day}.`,
          `It takes place in the ${place}, because the roof of the ${oldPlace} has to be repaired.`,
          `Everybody pays ${price} crowns, also those who paid ${oldPrice} crowns last year.`,
        ]),
      ];
      const text = [opening, ...others].join(" ");
      const now = [event, day, place, `${price} crowns`];
      return { public: { text }, private: { now, before: [oldDay, oldPlace, `${oldPrice} crowns`] }, key: text };
    },
  });

/** Grades a summary: the share of the facts that it states; 0 if it is too long, states what no longer holds, or is a list without sentences. */
const facts: Judge = {
  async judge({ turns, agents, task }: JudgeRequest) {
    const text = turns.map(({ message }) => messageText(message)).join(" ");
    const { now, before } = (task as Task<Notice, Facts>).private;
    const has = (fact: string): boolean => ` ${text}`.includes(` ${fact}`);
    const isSummary =
      text.split(/\s+/).length <= WORDS && /^[A-Z][^.!?]*\b(?:is|will|takes)\b[^.!?]*\.$/.test(text.trim());
    const share = isSummary && !before.some(has) ? now.filter(has).length / now.length : 0;
    const reward = score(share);
    return {
      rewards: Object.fromEntries(agents.map((agent) => [agent, reward])),
      verdict: "scored",
      reason: `states ${share * 100} % of the facts`,
    };
  },
};

const RUBRIC = [
  { name: "facts", description: "One sentence states what holds now: event, day, place, price.", weight: 1 },
];

const summaries = singleTurn({
  id: "summaries@1",
  description: "Summarise a notice in one sentence.",
  options: z.strictObject({ judge: z.enum(["summary-facts@1", "llm@2"]).default("summary-facts@1") }),
  requires: (_context, { judge }) => [{ id: `judge:${judge}`, asker: "the option `judge` of summaries@1" }],
  tasks,
  prompt: ({ text }) => `${text}\n\nState what holds now in one sentence of at most ${WORDS} words.`,
  answer: ({
    private: {
      now: [event, day, place, price],
    },
  }) => `The ${event} is on ${day} in the ${place}, for ${price}.`,
  async score(_text, task, { context, options: { judge }, message, signal }) {
    const options: JsonObject = judge === "llm@2" ? { mode: "pointwise", rubric: RUBRIC } : {};
    const turns = [{ agent: "agent", message }];
    const request = { question: task.public.text, turns, agents: ["agent"], task, options };
    return (await context.judge(judge).judge(request, { signal })).rewards["agent"] ?? 0;
  },
  fixtures,
});

export default definePlugin({
  name: "summaries-environment",
  environments: [summaries],
  judges: { "summary-facts@1": () => facts },
});
