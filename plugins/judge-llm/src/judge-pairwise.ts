import { encodeData } from "@mrlm/model-client";
import { type AgentId, type Reward, score, type Unscored, unscored } from "@mrlm/kit";
import { type Answered, ask, type Outcome } from "./ask.ts";
import { labelConversation } from "./conversation.ts";
import { pairwisePrompt } from "./prompts.ts";
import type { JudgedAgents, Judging } from "./judging.ts";
import { type Comparison, comparisonFault, comparisonForm, partOfScale } from "./verdict-forms.ts";
import { verdictOf } from "./verdict-of.ts";
import { majorityOf } from "./votes.ts";

/** Two agents; the first one is A in the first order, and B in the second. */
type Pair = readonly [AgentId, AgentId];

/** One vote about a pair: both orders. */
interface PairVote {
  readonly winner: AgentId | "tie";
  /** Winners of both orders. */
  readonly orders: readonly (AgentId | "tie")[];
  /** Mean score of each agent of the pair, from 0 to 1. */
  readonly scores: readonly [number, number];
  readonly answers: readonly Answered<Comparison>[];
}

interface JudgedPair {
  readonly pair: Pair;
  readonly votes: readonly PairVote[];
  /** Part of the point for the first agent: 1, 0.5 or 0. */
  readonly first: number | Unscored;
  readonly cut: number;
}

/**
 * Compares each pair of agents in both orders; orders that disagree are a tie. The reward is 1 for the better agent, 0 for the other, 0.5 for a tie, and with
 * more than two agents the mean over the pairs of an agent.
 */
export async function judgePairwise(judging: Judging): Promise<JudgedAgents> {
  const { agents } = judging.request;
  const pairs = agents.flatMap((first, index) => agents.slice(index + 1).map((second): Pair => [first, second]));
  const judged = await Promise.all(pairs.map(async (pair) => await judgePair(judging, pair)));
  const rewards = Object.fromEntries(agents.map((agent) => [agent, rewardOf(agent, judged)]));
  return {
    rewards,
    verdict: verdictOf(rewards),
    reasons: judged.flatMap(({ pair: [a, b], votes }) =>
      (votes[0]?.answers ?? []).map(({ value }, order) => {
        const [first, second] = order === 0 ? [a, b] : [b, a];
        return `(A is ${first}, B is ${second}) ${value.reasons}`;
      }),
    ),
    answers: judged.flatMap(({ votes }) => votes.flatMap(({ answers }) => answers)),
    detail: {
      pairs: judged.map(({ pair, votes }) => ({
        agents: [...pair],
        votes: votes.map(({ winner, orders }) => ({ winner, orders: [...orders] })),
      })),
    },
    cut: judged[0]?.cut ?? 0,
  };
}

async function judgePair(judging: Judging, pair: Pair): Promise<JudgedPair> {
  const votes = await Promise.all(
    Array.from({ length: judging.options.votes }, async (_, vote) => {
      const orders = [pair, [pair[1], pair[0]]] as const;
      return await Promise.all(orders.map(async (order) => await compare(judging, order, vote)));
    }),
  );
  const cut = votes[0]?.[0]?.cut ?? 0;
  const result = majorityOf(
    votes.map((orders) =>
      voteOf(
        pair,
        orders.map(({ outcome }) => outcome),
      ),
    ),
  );
  if ("failure" in result) return { pair, votes: [], first: result.failure, cut };
  const wins = (agent: AgentId): number => result.answered.filter(({ winner }) => winner === agent).length;
  const difference = wins(pair[0]) - wins(pair[1]);
  return {
    pair,
    votes: result.answered,
    first: difference > 0 ? 1 : difference < 0 ? 0 : 0.5,
    cut,
  };
}

/** Joins the outcomes of both orders. A failure of one is the failure of the vote. */
function voteOf(
  [a, b]: Pair,
  outcomes: readonly Outcome<Comparison>[],
): { readonly answered: PairVote } | { readonly failure: Unscored } {
  const answers: Answered<Comparison>[] = [];
  for (const outcome of outcomes) {
    if ("failure" in outcome) return outcome;
    answers.push(outcome.answered);
  }
  const [forward, backward] = answers.map(({ value }) => value) as [Comparison, Comparison];
  const named = (winner: Comparison["winner"], [first, second]: Pair): AgentId | "tie" =>
    winner === "tie" ? "tie" : winner === "A" ? first : second;
  const orders = [named(forward.winner, [a, b]), named(backward.winner, [b, a])] as const;
  const winner = orders[0] === orders[1] ? orders[0] : "tie";
  const scores = [
    partOfScale((forward.scores.A + backward.scores.B) / 2),
    partOfScale((forward.scores.B + backward.scores.A) / 2),
  ] as const;
  return { answered: { winner, orders, scores, answers } };
}

async function compare(
  { client, request, options, call }: Judging,
  order: Pair,
  vote: number,
): Promise<{ readonly outcome: Outcome<Comparison>; readonly cut: number }> {
  const { rubric, instructions, max_tokens, temperature } = options;
  const labels = [...order, ...request.agents.filter((agent) => !order.includes(agent))];
  const { items, cut } = labelConversation(request, labels, options);
  const data = encodeData(items, ["pairwise", vote]);
  const outcome = await ask(
    client,
    {
      system: pairwisePrompt({ rubric, instructions, data }),
      user: data.text,
      output: comparisonForm,
      contradiction: comparisonFault,
      maxTokens: max_tokens,
      temperature,
      vote,
    },
    call,
  );
  return { outcome, cut };
}

function rewardOf(agent: AgentId, judged: readonly JudgedPair[]): Reward {
  const own = judged.filter(({ pair }) => pair.includes(agent));
  const points: number[] = [];
  const scores: number[] = [];
  for (const { pair, first, votes } of own) {
    if (typeof first !== "number") return first;
    const isFirst = pair[0] === agent;
    points.push(isFirst ? first : 1 - first);
    scores.push(mean(votes.map((vote) => vote.scores[isFirst ? 0 : 1])));
  }
  if (points.length === 0)
    return unscored("OPTIONS_INVALID", "A pairwise judgement needs two agents. Use the mode `pointwise` for one.");
  return score(mean(points), { score: mean(scores) });
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
