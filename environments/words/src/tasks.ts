import { generatedTasks, type RandomStream, type TaskSource } from "@mrlm/kit";
import { pickDifficulty } from "@mrlm/kit/options";
import { FACTS } from "./facts.ts";
import type { Level } from "./games/game.ts";
import { type GameName, GAMES } from "./games/index.ts";
import type { WordsOptions } from "./options.ts";
import { type PrivateGame, type PublicGame, solve } from "./play.ts";

/** Share of all tasks that belongs to the `eval` split. */
const EVAL_SHARE = 0.1;

/** Returns seeded games. Each has a solution. Games with the same words and questions are in one split, whichever word is hidden. */
export function wordsTasks(options: WordsOptions): TaskSource<PublicGame, PrivateGame> {
  return generatedTasks({
    seed: options.task_seed,
    splits: {
      train: { size: options.train_size, share: 1 - EVAL_SHARE },
      eval: { size: options.eval_size, share: EVAL_SHARE },
    },
    generate(random) {
      const game = random.pick(options.games);
      const level = GAMES[game].levels[pickDifficulty(random, options.levels) - 1] as Level;
      for (;;) {
        const shown = drawGame(random, game, level);
        const hidden = { secret: random.integer(0, shown.words.length - 1) };
        const key = [game, shown.words.toSorted().join(" "), shown.questions.toSorted().join(" ")].join("|");
        if (solve(shown, hidden) !== undefined) return { public: shown, private: hidden, key };
      }
    },
  });
}

function drawGame(random: RandomStream, game: GameName, level: Level): PublicGame {
  return {
    game,
    words: random.shuffle(GAMES[game].pool(level)).slice(0, level.count),
    questions: random.shuffle([...FACTS.keys()]).slice(0, level.questions ?? 0),
    tries: level.tries,
  };
}
