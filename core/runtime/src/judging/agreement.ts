import type { AgentId, Reward } from "@mrlm/spec";
import { kendallTau } from "./rank-correlation.ts";

/** Episode that was judged twice. */
export interface TwiceJudged {
  readonly before: Readonly<Record<AgentId, Reward>>;
  readonly after: Readonly<Record<AgentId, Reward>>;
  /** Verdicts of the last judgements; `undefined` without one. */
  readonly verdictBefore: string | undefined;
  readonly verdictAfter: string | undefined;
}

/** Agreement of two judges on the totals of one agent. */
export interface AgentAgreement {
  readonly agent: AgentId;
  /** Episodes with both scores. */
  readonly scored: number;
  readonly unscoredBefore: number;
  readonly unscoredAfter: number;
  /** Means over the episodes with both scores. */
  readonly meanBefore: number | undefined;
  readonly meanAfter: number | undefined;
  /** Kendall's tau-b of the totals over episodes; `undefined` where all are equal. */
  readonly tau: number | undefined;
}

/** Number of comparisons, and of those with equal results. */
export interface Share {
  readonly equal: number;
  readonly of: number;
}

/** Agreement of two judges on the episodes of a run. */
export interface Agreement {
  readonly agents: readonly AgentAgreement[];
  /** Episodes with two verdicts. A judge that failed has none. */
  readonly verdicts: Share;
  /** Pairs of agents of one episode, ordered or tied by their totals. */
  readonly orders: Share;
}

const FAILED = "failed";

export function agreementOf(episodes: readonly TwiceJudged[]): Agreement {
  const agents = [...new Set(episodes.flatMap(({ before }) => Object.keys(before)))].sort();
  // A judge that could score no agent has reached no verdict.
  const verdicts = episodes.filter(
    ({ before, after, verdictBefore, verdictAfter }) =>
      [verdictBefore, verdictAfter].every((verdict) => verdict !== undefined && verdict !== FAILED) &&
      [before, after].every((rewards) => Object.values(rewards).some(({ scored }) => scored)),
  );
  const orders = episodes.flatMap(orderPairs);
  return {
    agents: agents.map((agent) => agentAgreement(agent, episodes)),
    verdicts: {
      equal: verdicts.filter(({ verdictBefore, verdictAfter }) => verdictBefore === verdictAfter).length,
      of: verdicts.length,
    },
    orders: { equal: orders.filter((isEqual) => isEqual).length, of: orders.length },
  };
}

function agentAgreement(agent: AgentId, episodes: readonly TwiceJudged[]): AgentAgreement {
  const own = episodes.filter(({ before }) => Object.hasOwn(before, agent));
  const pairs = own.flatMap(({ before, after }): [number, number][] => {
    const [one, other] = [before[agent], after[agent]];
    return one?.scored === true && other?.scored === true ? [[one.value, other.value]] : [];
  });
  const mean = (of: (pair: [number, number]) => number): number | undefined =>
    pairs.length === 0 ? undefined : pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const unscored = (of: (episode: TwiceJudged) => Reward | undefined): number =>
    own.filter((episode) => of(episode)?.scored !== true).length;
  return {
    agent,
    scored: pairs.length,
    unscoredBefore: unscored(({ before }) => before[agent]),
    unscoredAfter: unscored(({ after }) => after[agent]),
    meanBefore: mean(([before]) => before),
    meanAfter: mean(([, after]) => after),
    tau: kendallTau(pairs),
  };
}

/** Returns for each pair of agents with all four scores whether their order is the same. */
function orderPairs({ before, after }: TwiceJudged): boolean[] {
  const values = Object.keys(before).flatMap((agent): [number, number][] => {
    const [one, other] = [before[agent], after[agent]];
    return one?.scored === true && other?.scored === true ? [[one.value, other.value]] : [];
  });
  return values.flatMap(([a, b], i) => values.slice(i + 1).map(([c, d]) => Math.sign(a - c) === Math.sign(b - d)));
}
