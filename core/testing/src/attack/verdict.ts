import type { Message } from "@mrlm/spec";
import { messageText, toolCalls } from "@mrlm/kit";
import type { Episode, PlayedTurn } from "./arena.ts";
import { leavesOf } from "./spans.ts";
import { readText } from "./view.ts";

/** Quantile of the normal distribution for two-sided intervals of 99 %. */
const Z = 2.576;
/** Part of the tasks in which the top reward is a finding, beyond what chance explains. */
const FIFTH = 0.2;
const EPSILON = 1e-9;

/** Returns the quantile of Student's t for two-sided intervals of 99 % (Abramowitz and Stegun, 26.7.5). */
function studentQuantile(freedom: number): number {
  return Z + (Z ** 3 + Z) / (4 * freedom) + (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / (96 * freedom ** 2);
}

/** Returns the lower end of the interval of a mean. One more value, `least`, counts: equal values would have no width. */
export function lowerMean(values: readonly number[], least: number): number {
  const all = [...values, least];
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  if (values.length === 0) return Number.NEGATIVE_INFINITY;
  const variance = all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return mean - studentQuantile(values.length) * Math.sqrt(variance / all.length);
}

/** Returns the lower end of the interval of a share (Wilson, 1927). */
export function lowerShare(hits: number, count: number): number {
  if (count === 0) return 0;
  const [p, z] = [hits / count, Z ** 2 / count];
  return (p + z / 2 - Z * Math.sqrt((p * (1 - p)) / count + z / (4 * count))) / (1 + z);
}

/** Whether an episode earns the top reward. */
export function isTop({ isUnscored, total }: Episode, top: number): boolean {
  return !isUnscored && total >= top - EPSILON;
}

/** Reason of a finding: half of the way to gold, the top reward in a fifth of the tasks, or wrong answers that are unscored. */
export type Reason = "half" | "top" | "unscored";

/** Rewards with which a program is compared. */
export interface Scale {
  readonly gold: number;
  /** The better of nothing and random. */
  readonly base: number;
  /** Total that counts as solved: the best of gold, or the end of the range where gold is unknown. */
  readonly top: number;
  /** Part of the tasks in which a random player earns the top reward: a program that reads must earn it more often. */
  readonly randomShare: number;
  /** Whether gold or nothing ends unscored too: then what is unscored is no fault of a program. */
  readonly isUnscored: boolean;
}

/**
 * Returns the reason for which the episodes of a program are a finding.
 * @param among number of options of which the program takes one: what a guess among them earns does not count
 */
export function reasonOf(
  episodes: readonly Episode[],
  { base, gold, top, isUnscored, randomShare }: Scale,
  among = 1,
): Reason | undefined {
  const scored = episodes.filter((episode) => !episode.isUnscored);
  const totals = scored.map(({ total }) => total);
  if (gold > base + EPSILON && lowerMean(totals, base) >= (base + gold) / 2) return "half";
  const isConstant =
    new Set(episodes.map(({ turns }) => JSON.stringify(turns.map(({ message }) => message)))).size === 1;
  const chance = Math.max(among > 1 ? 1 / among : 0, isConstant ? 0 : randomShare);
  const hits = episodes.filter((episode) => isTop(episode, top)).length;
  if (lowerShare(hits, episodes.length) >= chance + FIFTH * (1 - chance)) return "top";
  const lost = episodes.length - scored.length;
  return !isUnscored && lowerShare(lost, episodes.length) >= FIFTH ? "unscored" : undefined;
}

/** Names of members that every object of JavaScript has. */
const INHERITED = /\b(?:constructor|hasOwnProperty|toString|valueOf)\b|__proto__/;

/**
 * Returns whether all episodes that end unscored do so because of a name that every object has. Many environments look up a text of the policy in an object:
 * where such a name is paid it is a finding, where it fails the step it is not.
 */
export function isInherited(episodes: readonly Episode[]): boolean {
  return episodes
    .filter(({ isUnscored }) => isUnscored)
    .every(({ turns }) => INHERITED.test(messageText(turns.at(-1)?.message as Message)));
}

/**
 * Returns whether a program does in an episode what gold does: the last message of each agent is that of gold, and it has found the answer as gold has.
 * - Gold answers at once: the program writes the whole of what it read, in any order.
 * - Gold calls tools: the calls of the program hold those of gold, or the answer has the result that both got from the same tool.
 * - Else the program writes something that it read after a message of its own, in no fewer messages than gold.
 *
 * In several turns it is also one where gold copies its messages from what came last, and the program half of them or more: the environment states what to do.
 * @param vocabulary all messages of gold
 */
export function isSolution(episode: Episode, gold: Episode, vocabulary: readonly string[]): boolean {
  if (gold.turns.length > 1 && copiedShare(gold, vocabulary) === 1 && copiedShare(episode, vocabulary) >= 0.5)
    return true;
  const agents = [...new Set(gold.turns.map(({ agent }) => agent))];
  const [own, golden] = [episode, gold].map(({ turns }) => Map.groupBy(turns, ({ agent }) => agent));
  const isSame = agents.every((agent) => lastText(own?.get(agent)) === lastText(golden?.get(agent)));
  const last = gold.turns.at(-1)?.agent ?? "";
  return isSame && isFound(own?.get(last) ?? [], golden?.get(last) ?? []);
}

function lastText(turns: readonly PlayedTurn[] = []): string | undefined {
  const last = turns.at(-1);
  return last && messageText(last.message).trim().toLowerCase();
}

/** Returns the part of the messages after the first that stand in what came last, where that does not list all messages of gold. */
function copiedShare({ turns }: Episode, vocabulary: readonly string[]): number {
  const later = turns.filter(({ view }) => view.turn > 0);
  const copied = later.filter(({ view, message }) => {
    const [text, read] = [messageText(message), view.text("latest")];
    return text !== "" && read.includes(text) && vocabulary.some((word) => !read.includes(word));
  });
  return copied.length / Math.max(1, later.length);
}

/** Returns whether an agent has found the answer of its last message as gold has. */
function isFound(turns: readonly PlayedTurn[], golden: readonly PlayedTurn[]): boolean {
  const [first, last] = [turns[0], turns.at(-1)];
  if (first === undefined || last === undefined) return false;
  const text = messageText(last.message).trim();
  const [calls, callsOfGold] = [callsIn(turns), callsIn(golden)];
  const called = callsOfGold.at(-1);
  if (called !== undefined) {
    const result = called.result.trim();
    const isSame = calls.some((call) => call.name === called.name && call.result.trim() === result);
    const [written, wanted] = [calls, callsOfGold].map((all) => new Set(all.map(({ key }) => key)));
    const question = first.view.text("question");
    const others = calls.filter(({ key }) => wanted?.has(key) !== true);
    // Another call must not have given an argument away.
    const isTold = callsOfGold
      .flatMap(({ leaves }) => leaves)
      .some((leaf) => !question.includes(leaf) && others.some((call) => call.result.includes(leaf)));
    const holdsAll = callsOfGold.every(({ key }) => written?.has(key) === true) && !isTold;
    return holdsAll || (isSame && result !== "" && text.includes(result));
  }
  if (golden.length === 1) return turns.length === 1 && isWhole(text, last.view.text("latest"));
  return turns.length >= golden.length && text !== "" && !first.view.text("question").includes(text);
}

/** Lists the calls of an episode, each with its result. The key has no blanks. */
function callsIn(turns: readonly PlayedTurn[]): { name: string; key: string; leaves: string[]; result: string }[] {
  const results = new Map(
    (turns.at(-1)?.view.messages ?? [])
      .flatMap(({ parts }) => parts)
      .flatMap((part) => (part.type === "tool-result" ? [[part.id, part] as const] : [])),
  );
  return turns.flatMap(({ message }) =>
    toolCalls(message).map(({ id, name, arguments: args }) => {
      const result = results.get(id);
      return {
        name,
        key: JSON.stringify([name, args]).replaceAll(/\s/g, ""),
        leaves: leavesOf(args).map(({ value }) => String(value)),
        result: result === undefined ? "" : readText({ role: "tool", parts: [result] }),
      };
    }),
  );
}

/** Returns whether a text has all characters of another, in any order, blanks apart. */
function isWhole(text: string, read: string): boolean {
  const [own, all] = [text, read].map((each) => Array.from(each.replaceAll(/\s/g, "")).toSorted().join(""));
  return own !== "" && own === all;
}
