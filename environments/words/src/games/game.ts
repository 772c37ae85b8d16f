/** Size of the tasks of one level. */
export interface Level {
  /** Words of which one is hidden. */
  readonly count: number;
  /** Letters of each word, in the games of letters. */
  readonly letters?: number;
  /** Questions that are offered, in the game of questions. */
  readonly questions?: number;
  /** Number of tries: an episode ends with the last one. */
  readonly tries: number;
}

/** Rules of one game. A player names a word, or asks for something by a word or a letter. */
export interface Game {
  /** Levels 1 to 5. */
  readonly levels: readonly Level[];
  /** Words among which those of a task are drawn. */
  pool(level: Level): readonly string[];
  /** Everything that can be asked beside the words themselves. */
  asked(words: readonly string[], questions: readonly string[]): readonly string[];
  /** Returns the reply to a move if `word` is the hidden one. Equal replies do not distinguish words. */
  reply(move: string, word: string): string;
  /** Returns the number of tries that a move costs which does not solve the task. */
  cost(move: string, reply: string, isWord: boolean): number;
  /** Whether the hidden word is known to the player without having been named. */
  isRevealed?(moves: ReadonlySet<string>, word: string): boolean;
  /** Returns the text of a reply. @param moves all moves so far, this one included */
  show(reply: string, moves: ReadonlySet<string>, word: string): string;
}
