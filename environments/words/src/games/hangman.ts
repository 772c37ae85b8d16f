import { wordsOfLength } from "../word-pool.ts";
import type { Game } from "./game.ts";

/** A word is guessed by its letters. A letter that it has shows its places; another one, and a wrong word, cost a try. */
export const hangman: Game = {
  levels: [
    { count: 20, letters: 3, tries: 4 },
    { count: 25, letters: 4, tries: 4 },
    { count: 30, letters: 5, tries: 4 },
    { count: 50, letters: 6, tries: 4 },
    { count: 80, letters: 7, tries: 4 },
  ],
  pool: ({ letters = 0 }) => wordsOfLength(letters),
  asked: (words) => [...new Set(words.join(""))].toSorted(),
  reply: (move, word) => (move.length === 1 ? pattern(word, new Set(move)) : String(move === word)),
  cost: (_move, reply) => (/[a-z]/.test(reply) && reply !== "false" ? 0 : 1),
  isRevealed: (moves, word) => [...word].every((letter) => moves.has(letter)),
  show: (_reply, moves, word) => pattern(word, moves),
};

/** Returns a word with `_` in the place of letters that are not shown. */
function pattern(word: string, shown: ReadonlySet<string>): string {
  return [...word].map((letter) => (shown.has(letter) ? letter : "_")).join("");
}
