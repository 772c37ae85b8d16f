import { expect, test } from "@jest/globals";
import { FACTS, THINGS } from "../src/facts.ts";
import { GAMES } from "../src/games/index.ts";
import { Play } from "../src/play.ts";

test.each([
  ["apple", "apple", "ggggg"],
  ["paper", "apple", "yygy-"],
  ["allee", "apple", "gy--g"],
  ["eerie", "crate", "--y-g"],
  ["three", "eerie", "--gyg"],
])("the marks of %s for %s are %s", (guess, word, marks) => {
  expect(GAMES.wordle.reply(guess, word)).toBe(marks);
});

test("hangman: a letter shows all its places; a repeated letter and a wrong word cost a try", () => {
  const play = new Play({ game: "hangman", words: ["banana", "cabana"], questions: [], tries: 2 }, { secret: 0 });
  expect(play.move("a")).toMatchObject({ reply: "_a_a_a", progress: 0 });
  expect(play.tries).toBe(2);
  play.move("a");
  expect(play.tries).toBe(1);
  expect(play.move("n")).toMatchObject({ reply: "_anana" });
  play.move("cabana");
  expect([play.isOver, play.isSolved]).toEqual([true, false]);
});

test("a guess that contradicts an earlier reply is paid nothing", () => {
  const play = new Play(
    { game: "wordle", words: ["ba", "bo", "do", "di", "ki"], questions: [], tries: 5 },
    { secret: 4 },
  );
  expect(play.move("ba").progress).toBeGreaterThan(0);
  expect(play.move("bo").progress).toBe(0);
  expect(play.move("ki").reward).toBeLessThan(1);
  expect(play.isSolved).toBe(true);
});

test("every two things differ by a question", () => {
  const answers = THINGS.map((thing) => [...FACTS.values()].map(({ things }) => things.includes(thing)).join());
  const groups = Map.groupBy(THINGS, (_thing, i) => answers[i]);
  // Things with equal answers can be in one task, whose hidden thing is another one.
  expect(Math.max(...[...groups.values()].map((group) => group.length))).toBeLessThanOrEqual(4);
});
