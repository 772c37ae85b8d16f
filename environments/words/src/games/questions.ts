import { FACTS, THINGS } from "../facts.ts";
import type { Game } from "./game.ts";

/** Twenty questions: a thing is found by questions with the answer yes or no. The first thing that is named ends the episode. */
export const questions: Game = {
  levels: [
    { count: 6, questions: 12, tries: 6 },
    { count: 8, questions: 16, tries: 7 },
    { count: 12, questions: 20, tries: 9 },
    { count: 20, questions: 30, tries: 12 },
    { count: 30, questions: 40, tries: 16 },
  ],
  pool: () => THINGS,
  asked: (_words, offered) => offered,
  reply(move, word) {
    const fact = FACTS.get(move);
    return String(fact === undefined ? move === word : fact.things.includes(word));
  },
  cost: (_move, _reply, isWord) => (isWord ? Number.POSITIVE_INFINITY : 1),
  show: (reply) => (reply === "true" ? "yes" : "no"),
};
