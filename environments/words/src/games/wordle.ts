import { wordsOfLength } from "../word-pool.ts";
import type { Game } from "./game.ts";

/** A word is guessed by words; each letter of a guess is marked. */
export const wordle: Game = {
  levels: [
    { count: 15, letters: 2, tries: 4 },
    { count: 25, letters: 3, tries: 5 },
    { count: 30, letters: 4, tries: 5 },
    { count: 50, letters: 5, tries: 5 },
    { count: 80, letters: 6, tries: 5 },
  ],
  pool: ({ letters = 0 }) => wordsOfLength(letters),
  asked: () => [],
  reply: marksOf,
  cost: () => 1,
  show: (reply) => reply,
};

/**
 * Returns a mark for each letter of a guess: `g` at its place, `y` elsewhere in the word, `-` not in it. A letter that the guess has more often than the word
 * is marked as often as the word has it, those at their places first.
 */
function marksOf(guess: string, word: string): string {
  const others = new Map<string, number>();
  const isRight = [...guess].map((letter, i) => letter === word[i]);
  for (const [i, letter] of [...word].entries())
    if (isRight[i] !== true) others.set(letter, (others.get(letter) ?? 0) + 1);
  return [...guess]
    .map((letter, i) => {
      if (isRight[i] === true) return "g";
      const left = others.get(letter) ?? 0;
      others.set(letter, left - 1);
      return left > 0 ? "y" : "-";
    })
    .join("");
}
