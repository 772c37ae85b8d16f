import type { Fixture, FixtureRequest } from "@mrlm/kit";
import { type PrivateGame, type PublicGame, solve } from "./play.ts";
import { writeMove } from "./prompt.ts";

type Request = FixtureRequest<PublicGame, PrivateGame>;

const nextMove = ({ task, turn }: Request): string => solve(task.public, task.private)?.[turn] ?? "";
const wrongWord = ({ task: { public: shown, private: hidden } }: Request): string =>
  shown.words[(hidden.secret + 1) % shown.words.length] as string;

export const fixtures: readonly Fixture<PublicGame, PrivateGame>[] = [
  {
    name: "moves that leave the fewest words",
    kind: "gold",
    policy: (request) => writeMove(nextMove(request), "words"),
    reward: 1,
  },
  {
    name: "the same in the terse style",
    kind: "gold",
    options: { style: "terse", levels: 5 },
    policy: nextMove,
    reward: 1,
  },
  {
    name: "the hidden word at once",
    kind: "gold",
    options: { games: ["questions"] },
    task: "eval/0",
    policy: ({ task }) => `It is <move>${task.public.words[task.private.secret]}</move>.`,
    reward: 1,
  },
  { name: "nothing", kind: "nop", policy: () => "", reward: 0 },
  {
    name: "all words in one message",
    kind: "cheat",
    policy: ({ task }) => task.public.words.map((word) => writeMove(word, "words")).join(" "),
    reward: 0,
  },
  {
    name: "all words in one move",
    kind: "cheat",
    policy: ({ task }) => writeMove(task.public.words.join(" "), "words"),
    reward: 0,
  },
  {
    name: "a wrong thing",
    kind: "cheat",
    options: { games: ["questions"] },
    task: "train/3",
    policy: (request) => writeMove(wrongWord(request), "words"),
    reward: 0,
  },
  {
    name: "a word without its tag",
    kind: "malformed",
    policy: ({ task }) => task.public.words[task.private.secret] as string,
    reward: 0,
  },
  {
    name: "the first word twice",
    kind: "determinism",
    seed: 5,
    policy: ({ task }) => writeMove(task.public.words[0] as string, "words"),
  },
];
