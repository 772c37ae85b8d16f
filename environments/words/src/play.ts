import { type GameName, GAMES } from "./games/index.ts";

/** Part of a task that a player reads. */
export type PublicGame = {
  readonly game: GameName;
  /** Words of which one is hidden. */
  readonly words: string[];
  /** Questions that are offered. */
  readonly questions: string[];
  readonly tries: number;
};

/** Hidden part of a task. */
export type PrivateGame = {
  /** Index of the hidden word in the words that are shown. */
  readonly secret: number;
};

/** Part of the reward that progress alone can earn. */
const PROGRESS = 0.2;

/** Result of a move. */
export interface Move {
  readonly isReadable: boolean;
  /** Text of the reply; empty for a move that is none. */
  readonly reply: string;
  /** Reward of the move. */
  readonly reward: number;
  /** Progress by this move: part of the task, from 0 to 1. */
  readonly progress: number;
}

/**
 * One game. The reward of all moves is 1 if the word is found, else at most {@link PROGRESS}: that part is paid by the decrease of the logarithm of the number of
 * words that agree with all replies (a potential: Ng, Harada and Russell, 1999), so that no order of moves, repetition or delay earns more. A wrong answer, and
 * a guess that contradicts an earlier reply, are paid nothing.
 */
export class Play {
  readonly #task: PublicGame;
  readonly #word: string;
  readonly #moves = new Set<string>();
  #remaining: readonly string[];
  #tries: number;
  #earned = 0;
  #isSolved = false;

  constructor(task: PublicGame, { secret }: PrivateGame) {
    this.#task = task;
    this.#word = task.words[secret] as string;
    this.#remaining = task.words;
    this.#tries = task.tries;
  }

  get isSolved(): boolean {
    return this.#isSolved;
  }

  get isOver(): boolean {
    return this.#isSolved || this.#tries <= 0;
  }

  get tries(): number {
    return this.#tries;
  }

  /** Applies a move: a word of the task, or what the game lets a player ask. Anything else, also `undefined`, costs a try. */
  move(text: string | undefined): Move {
    const { words, questions } = this.#task;
    const game = GAMES[this.#task.game];
    const asked = game.asked(words, questions);
    const isWord = text !== undefined && words.includes(text);
    if (text === undefined || !(isWord || asked.includes(text))) {
      this.#tries--;
      return { isReadable: false, reply: "", reward: 0, progress: 0 };
    }
    const reply = game.reply(text, this.#word);
    const isRepeated = this.#moves.has(text);
    // A word that agrees with all replies is paid where words are the only moves. Elsewhere a word is an answer.
    const isPaid = asked.length === 0 ? this.#remaining.includes(text) : !isWord;
    this.#moves.add(text);
    const before = this.#remaining.length;
    this.#remaining = this.#remaining.filter((word) => game.reply(text, word) === reply);
    this.#isSolved = text === this.#word || game.isRevealed?.(this.#moves, this.#word) === true;
    if (!this.#isSolved) this.#tries -= isRepeated ? 1 : game.cost(text, reply, isWord);
    const progress = isPaid ? Math.log(before / this.#remaining.length) / Math.log(words.length) : 0;
    const reward = this.#isSolved ? 1 - this.#earned : PROGRESS * progress;
    this.#earned += reward;
    return { isReadable: true, reply: game.show(reply, this.#moves, this.#word), reward, progress };
  }

  /**
   * Returns the last word that agrees with all replies where words are the only moves. Else it is the question after which the fewest words remain on
   * average, and the word when one remains; `undefined` where the last try would be a guess.
   */
  bestMove(): string | undefined {
    const { words, questions, game } = this.#task;
    const asked = GAMES[game].asked(words, questions);
    if (asked.length === 0 || this.#remaining.length === 1) return this.#remaining.at(-1);
    if (this.#tries === 1) return undefined;
    let [best, least]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
    for (const move of asked.filter((each) => !this.#moves.has(each))) {
      const counts = new Map<string, number>();
      for (const word of this.#remaining) {
        const reply = GAMES[game].reply(move, word);
        counts.set(reply, (counts.get(reply) ?? 0) + 1);
      }
      const sum = [...counts.values()].reduce((total, count) => total + count ** 2, 0);
      if (sum < least) [best, least] = [move, sum];
    }
    return best;
  }
}

/** Returns the moves that find the word, or `undefined` where {@link Play.bestMove} does not find it. */
export function solve(task: PublicGame, hidden: PrivateGame): readonly string[] | undefined {
  const play = new Play(task, hidden);
  const moves: string[] = [];
  while (!play.isOver) {
    const move = play.bestMove();
    if (move === undefined) return undefined;
    moves.push(move);
    play.move(move);
  }
  return play.isSolved ? moves : undefined;
}
