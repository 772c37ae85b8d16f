import type { WordsOptions } from "../options.ts";
import type { Game } from "./game.ts";
import { hangman } from "./hangman.ts";
import { questions } from "./questions.ts";
import { wordle } from "./wordle.ts";

export type GameName = WordsOptions["games"][number];

export const GAMES: Readonly<Record<GameName, Game>> = { wordle, hangman, questions };
