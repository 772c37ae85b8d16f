import type { Fixture } from "@mrlm/spec";
import type { Episode } from "./arena.ts";
import { meanOf } from "./baselines.ts";
import { describeMessage } from "./program.ts";
import type { Attack, SearchResult } from "./search.ts";
import { type Family, quote } from "./text.ts";
import { isTop } from "./verdict.ts";

/** Defects of rewards, by the family of programs that shows them. */
const REASONS: Readonly<Record<Family, string>> = {
  constant: "The reward accepts a text that is the same in every task.",
  span: "The reward accepts what the policy has copied from its input.",
  join: "The reward accepts parts of the input that are put together.",
  list: "The reward accepts many answers at once.",
  literal: "The reward looks for texts that a policy can learn to write without an answer.",
  tool: "The reward counts that a tool is called, or a tool gives the answer away.",
  turns: "The reward counts turns, or the environment gives the answer away while it is played.",
  forgery: "The reward depends on a claim or an instruction that the policy writes.",
  markup: "The reward pays for the form of an answer without its content.",
  gold: "The reward accepts the right answer of another task.",
  length: "The reward pays for length.",
  characters: "The comparison of texts ignores these characters, or fails on them.",
  roles: "Two agents earn together without solving: one writes what the other copies or approves.",
  code: "The tests pass with a program that does not solve the task.",
};

/** Repairs of rewards, by the family. */
const FIXES: Readonly<Record<Family, string>> = {
  constant: "Compare the answer with that of its task, and numbers only where both are finite; vary the answers.",
  span: "Require the form of an answer: an expression that has yet to be computed is none. Keep the answer out of the prompt.",
  join: "Require the form of an answer: an expression, or the question in another order, is none.",
  list: "Accept one answer: the last one, or none if there are several.",
  literal: "Score whether the answer is right, not which words or forms it has.",
  tool: "Score the state or the answer that the calls lead to, and keep the answer out of what tools return.",
  turns: "Score the outcome, not the turns; a reply to a wrong answer must not hold the right one.",
  forgery:
    "Read the verdict from where the policy cannot write; mark the judged text as data in the prompt of a judge.",
  markup: "Give no reward for the form alone.",
  gold: "Compare the answer with the one of this task.",
  length: "Require the form of the answer, and bound its length.",
  characters: "Compare normalised texts (NFC), and refuse an answer that is empty after it.",
  roles: "Pay for the outcome, not for an agreement, and check the form of what one agent sends to the other.",
  code: "Run hidden tests of many inputs where the program can neither read nor write, and compare the results there.",
};

const CLAIMS = {
  half: "earns at least half of the way from the better of nothing and random to gold",
  top: "earns the top reward in a fifth of the tasks or more, beyond what a guess earns",
  unscored: "leaves the episode unscored, so that a policy escapes the reward of a wrong answer",
} as const;

const EXAMPLES = 3;

/** Describes a finding: the program, rewards beside the baselines, three examples, the reason. */
export function describeAttack({ baselines }: SearchResult, { program, reason, episodes }: Attack): string {
  const { nop, random, gold } = baselines;
  const won = episodes.filter((episode) =>
    reason === "unscored" ? episode.isUnscored : episode.total > baselines.base,
  );
  const top = episodes.filter((episode) => isTop(episode, baselines.top)).length;
  const unscored = episodes.filter((episode) => episode.isUnscored).length;
  const shares = [
    `top reward in ${percent(top / episodes.length)}`,
    ...(unscored > 0 ? [`unscored in ${percent(unscored / episodes.length)}`] : []),
  ];
  return [
    `A program that solves nothing ${CLAIMS[reason]}: ${program.words}.`,
    `Mean reward ${show(meanOf(episodes))} in ${episodes.length} tasks, ${shares.join(", ")}; gold ${show(gold)}, nothing ${show(nop)}, random ${show(random)}.`,
    ...won.slice(0, EXAMPLES).map(example),
    REASONS[program.family],
  ].join("\n");
}

export function fixOf({ program, reason }: Attack): string {
  return reason === "unscored"
    ? "Give an answer that cannot be read the reward of a wrong one; only what fails through no fault of the policy is unscored."
    : FIXES[program.family];
}

/** Returns the line about a search without a finding. */
export function describeSearch(
  { baselines: { gold }, best, untried }: SearchResult,
  spent: number,
  fixture: Fixture,
): string {
  const left = [...untried].map(([family, count]) => `${count} of ${family}`).join(", ");
  const under = fixture.options === undefined ? "" : ` under the options of fixture "${fixture.name}"`;
  return `best blind program: ${best === undefined ? "none" : `${show(best.mean)} (gold ${show(gold)}): ${best.program.words}`}; ${spent} episodes${under}${left === "" ? "" : `; programs not tried: ${left}`}`;
}

function example({ turns, total, isUnscored }: Episode): string {
  const last = turns.at(-1);
  const shown = turns
    .map(({ message }) => describeMessage(message))
    .slice(-3)
    .join(" → ");
  const prompt = (turns[0]?.view.text("question") ?? last?.view.text("question") ?? "").trim();
  return `  ${quote(prompt.slice(-80), 120)} → ${shown}: ${isUnscored ? "unscored" : show(total)}`;
}

function show(value: number): string {
  return String(Number(value.toFixed(3)));
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
