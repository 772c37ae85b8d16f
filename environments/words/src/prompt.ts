import { FACTS } from "./facts.ts";
import type { GameName } from "./games/index.ts";
import type { WordsOptions } from "./options.ts";
import type { Move, PublicGame } from "./play.ts";

const RULES: Readonly<Record<GameName, (tries: number) => string>> = {
  wordle: (tries) =>
    `Find the hidden word in at most ${tries} guesses. Each guess is one of the words below. Its letters are marked: g at the right place, y elsewhere in the hidden word, - not in it.`,
  hangman: (tries) =>
    `Find the hidden word. Guess a letter, which shows its places, or the word. A letter that the word does not have, a repeated letter and a wrong word are misses; the game ends at ${tries} misses.`,
  questions: (tries) =>
    `Find the hidden thing. Ask by the short name of a question, and be answered yes or no. Name the thing at last: you have one try, and ${tries} turns for questions and name.`,
};

const PLACE = "Write each move as <move>...</move>, once in a message.";

/** Returns the first message. */
export function questionOf({ game, words, questions, tries }: PublicGame, style: WordsOptions["style"]): string {
  if (style === "terse") return [words.join(" "), ...(questions.length > 0 ? [questions.join(" ")] : [])].join("?");
  const offered = questions.map((name) => `${name}: ${FACTS.get(name)?.question}`);
  return [
    RULES[game](tries),
    `${game === "questions" ? "Things" : "Words"}: ${words.join(", ")}.`,
    ...(offered.length > 0 ? [["Questions:", ...offered].join("\n")] : []),
    PLACE,
  ].join("\n");
}

/** Returns the message after a move. */
export function replyOf(
  { isReadable, reply }: Move,
  tries: number,
  { game }: PublicGame,
  style: WordsOptions["style"],
): string {
  if (style === "terse") return isReadable ? reply : "?";
  const left = { wordle: "Guesses", hangman: "Misses", questions: "Turns" }[game];
  return `${isReadable ? reply : `That is no move. ${PLACE}`}\n${left} left: ${tries}.`;
}

/** Returns the move of a message: in the terse style the whole text, else the content of its one tag. */
export function moveOf(text: string, style: WordsOptions["style"]): string | undefined {
  if (style === "terse") return text.trim().toLowerCase();
  const [first, ...others] = [...text.matchAll(/<move>([^<]*)<\/move>/g)];
  return others.length === 0 ? first?.[1]?.trim().toLowerCase() : undefined;
}

/** Writes a move. */
export function writeMove(move: string, style: WordsOptions["style"]): string {
  return style === "terse" ? move : `<move>${move}</move>`;
}
