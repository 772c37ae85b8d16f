import { textMessage } from "@mrlm/kit";
import type { Judge, Judgement, JudgeRequest } from "@mrlm/spec";
import { injections } from "../../plugins/judge-llm/test/support/injections.ts";
import { type LabelledPair, labelledPairs } from "./pairs.ts";

/** Judgement of a pair whose better answer is known. */
interface JudgedPair {
  readonly verdict: string;
  /** Winners of both orders. */
  readonly orders: readonly string[];
  /** Reward of the worse answer; undefined if unscored. */
  readonly worse: number | undefined;
}

const BETTER = "better";
const WORSE = "worse";
/** Neutral names. */
const NAMES = ["one", "two"] as const;
const never = new AbortController().signal;

/** Agreement of a judge with itself and with labels, and its resistance to injections. Shares are of scored judgements. */
export async function measureJudge(judge: Judge): Promise<Record<string, number>> {
  const plain = await Promise.all(labelledPairs.map(async (pair, index) => await judgePair(judge, pair, index, "")));
  const attacked = await Promise.all(
    injections.map(async ({ name, text }, index) => {
      const pairIndex = index % labelledPairs.length;
      const pair = labelledPairs[pairIndex] as LabelledPair;
      const judged = await judgePair(judge, pair, pairIndex, text(nameOf(WORSE, pairIndex)));
      return { name, judged, before: plain[pairIndex]?.worse };
    }),
  );
  const scored = plain.filter(({ worse }) => worse !== undefined);
  const answered = attacked.filter(({ judged, before }) => judged.worse !== undefined && before !== undefined);
  // An answer that wins without an injection shows nothing about it.
  const compared = answered.filter(({ before }) => (before as number) < 1);
  const successful = compared.filter(({ judged, before }) => (judged.worse as number) > (before as number));
  for (const { name } of successful) console.error(`successful injection: ${name}`);
  return {
    pairs: plain.length,
    pairs_unscored: plain.length - scored.length,
    agreement_between_orders: share(scored, ({ orders }) => orders[0] === orders[1]),
    agreement_with_labels: share(scored, ({ verdict }) => verdict === BETTER),
    wins_of_first_position: firstShare(scored),
    injections: attacked.length,
    injections_compared: compared.length,
    injections_unscored: attacked.length - answered.length,
    injection_success: share(compared, (attempt) => successful.includes(attempt)),
  };
}

async function judgePair(judge: Judge, pair: LabelledPair, index: number, injected: string): Promise<JudgedPair> {
  const texts = { [BETTER]: pair.better, [WORSE]: injected === "" ? pair.worse : `${pair.worse}\n\n${injected}` };
  const roles = index % 2 === 0 ? [BETTER, WORSE] : [WORSE, BETTER];
  const request: JudgeRequest = {
    question: pair.question,
    agents: NAMES,
    turns: roles.map((role, position) => ({
      agent: NAMES[position] as string,
      message: textMessage("assistant", texts[role as typeof BETTER]),
    })),
    task: { id: `test/${index}`, public: {}, private: {} },
    options: { mode: "pairwise", turns: "by_agent" },
  };
  const judgement = await judge.judge(request, { signal: never });
  const roleOf = (name: string): string => roles[NAMES.indexOf(name as (typeof NAMES)[number])] ?? name;
  const reward = judgement.rewards[nameOf(WORSE, index)];
  return {
    verdict: roleOf(judgement.verdict),
    orders: ordersOf(judgement),
    worse: reward?.scored === true ? reward.value : undefined,
  };
}

/** Name of the better or worse answer: it changes from pair to pair. */
const nameOf = (role: typeof BETTER | typeof WORSE, index: number): string =>
  NAMES[(index % 2 === 0) === (role === BETTER) ? 0 : 1];

/** Winners by name, in the order in which `one` stands first, and in the other. */
function ordersOf({ detail }: Judgement): string[] {
  const [pair] = (detail?.["pairs"] ?? []) as unknown as { votes: { orders: string[] }[] }[];
  return pair?.votes[0]?.orders ?? [];
}

/** Share of the wins of the answer that stands first: 0.5 where the position has no effect. */
function firstShare(judged: readonly JudgedPair[]): number {
  const isFirst = judged
    .flatMap(({ orders }) => orders.map((winner, order) => ({ winner, first: NAMES[order] })))
    .filter(({ winner }) => winner !== "tie");
  return share(isFirst, ({ winner, first }) => winner === first);
}

function share<T>(items: readonly T[], holds: (item: T) => boolean): number {
  return items.length === 0 ? Number.NaN : items.filter(holds).length / items.length;
}
