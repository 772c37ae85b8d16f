import { expect, test } from "@jest/globals";
import type { EnvironmentDefinition, JsonObject, StepResult } from "@mrlm/kit";
import { bareEnvironment } from "@mrlm/testing";
import plugin from "../src/index.ts";
import { type PrivateGame, type PublicGame, solve } from "../src/play.ts";

const TASKS = 60;
const words = plugin.environments?.[0] as EnvironmentDefinition;
const ALPHABET = [..."abcdefghijklmnopqrstuvwxyz"];
const tagged = (move: string): string => `<move>${move}</move>`;
const each = (moves: readonly string[]): string[] => moves.map(tagged);

/** Moves of a player who does not read the replies. */
type Cheat = (shown: PublicGame) => readonly string[];

/** Name, game, messages, and the mean reward that they may reach: chance, and the part for progress. */
const CHEATS: readonly (readonly [string, PublicGame["game"], Cheat, number])[] = [
  ["every word in one message", "wordle", ({ words: all }) => [each(all).join(" ")], 0],
  ["every word in one tag", "wordle", ({ words: all }) => [tagged(all.join(", "))], 0],
  [
    "one guess again and again",
    "wordle",
    ({ words: all }) => Array.from({ length: 9 }, () => tagged(all[0] as string)),
    0.15,
  ],
  ["the words in their order", "wordle", ({ words: all }) => each(all), 0.35],
  ["a word that is not among those shown", "wordle", () => each(["zzzzz", "aaaaa", "eeeee"]), 0],
  ["the marks of a right guess", "wordle", () => each(["gg", "ggg", "gggg"]), 0],
  ["the alphabet in one move", "hangman", () => [tagged(ALPHABET.join(""))], 0],
  ["the alphabet, letter by letter", "hangman", () => each(ALPHABET), 0.2],
  ["frequent letters", "hangman", () => each([..."etaoinshr"]), 0.3],
  ["one letter, in other cases and with blanks", "hangman", () => each(["e", "E", " e", "e ", "e"]), 0.15],
  ["the pattern", "hangman", () => each(["_", "__", "___", "____", "_____"]), 0],
  ["all questions, and no answer", "questions", ({ questions }) => each(questions), 0.2],
  ["all questions in one message", "questions", ({ questions }) => [each(questions).join("\n")], 0],
  ["questions that are not offered", "questions", () => each(["is it a cow?", "everything", "yes"]), 0],
  ["the first thing", "questions", ({ words: all }) => [tagged(all[0] as string)], 0.3],
  ["one thing after another", "questions", ({ words: all }) => each(all), 0.3],
];

test.each(CHEATS)("%s (%s)", async (_name, game, cheat, most) => {
  const totals = await playAll({ games: [game], levels: [1, 3] }, (shown) => cheat(shown));
  expect(mean(totals)).toBeLessThanOrEqual(most);
  expect(Math.max(...totals)).toBeLessThanOrEqual(1 + 1e-9);
});

test("a solution earns 1, also where every other question and a repetition come first", async () => {
  const late = (shown: PublicGame, hidden: PrivateGame): string[] => {
    const moves = solve(shown, hidden) as readonly string[];
    const answer = moves.at(-1) as string;
    return each(shown.game === "questions" ? [...moves.slice(0, -1), answer] : moves);
  };
  expect(await playAll({}, late)).toEqual(Array.from({ length: TASKS }, () => expect.closeTo(1, 9)));
  const delayed = (shown: PublicGame, hidden: PrivateGame): string[] => {
    const answer = shown.words[hidden.secret] as string;
    const others = shown.words.filter((word) => word !== answer).slice(0, shown.tries - 1);
    return each([...(shown.game === "wordle" ? others : Array.from({ length: shown.tries - 1 }, () => "?")), answer]);
  };
  expect(await playAll({}, delayed)).toEqual(Array.from({ length: TASKS }, () => expect.closeTo(1, 9)));
});

/** Plays the first tasks, each up to its end, and returns their rewards. */
async function playAll(
  options: JsonObject,
  messages: (shown: PublicGame, hidden: PrivateGame) => readonly string[],
): Promise<number[]> {
  const { tasks, context, options: parsed } = await bareEnvironment(words, options, {});
  const totals: number[] = [];
  for (let i = 0; i < TASKS; i++) {
    const { public: shown, private: hidden } = (await tasks.get("train", i)) as never as {
      public: PublicGame;
      private: PrivateGame;
    };
    const environment = await words.create(context as never, parsed as never);
    await environment.reset({ task: `train/${i}`, signal: new AbortController().signal });
    let total = 0;
    for (const text of messages(shown, hidden)) {
      const action = {
        agent: "agent",
        message: { role: "assistant", parts: [{ type: "text", text }] },
        finishReason: "stop",
      } as const;
      const { rewards, terminated } = (await environment.step(action, {
        signal: new AbortController().signal,
      })) as StepResult;
      const reward = rewards["agent"];
      total += reward?.scored === true ? reward.value : 0;
      if (terminated["agent"] === true) break;
    }
    totals.push(total);
  }
  return totals;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
