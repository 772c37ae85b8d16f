import { learntReward, programOf, wastedSpans } from "@mrlm/kit/learning";
import type { AgentId, Trajectory, TurnRecord } from "@mrlm/spec";
import type { StoredCredit } from "@mrlm/store";
import { sampledValues } from "./sampled-values.ts";

/** Call of a program of an episode, or a retry of one. Those of an ended program have times. */
export interface CallNode {
  readonly turn: number;
  readonly agent: AgentId;
  /** Kind of the match of its history with the known conversations; `retry`: it got the answer of its parent. `undefined` if the episode has no record of it. */
  readonly match: string | undefined;
  /** Index of the node that it continues, or from which its branch comes. */
  readonly parent: number | null;
  /** Whether it begins a branch. */
  readonly isBranch: boolean;
  /** Seconds from the start of the program to the call, and from the call to its answer. */
  readonly at?: number;
  readonly seconds?: number;
  readonly sampled: number;
  readonly learnt: number;
  /** Numbers of tokens that are not learnt, by reason. */
  readonly unlearnt: Readonly<Record<string, number>>;
}

type Recorded = Readonly<Record<string, unknown>>;

/** Returns the calls of an episode in order of time; `undefined` for an episode that is no run of a program. @param state of the parts of the episode in the store */
export function callsOf(
  trajectory: Trajectory,
  credits: readonly StoredCredit[],
  state: string,
): CallNode[] | undefined {
  const program = programOf(trajectory.info);
  if (program === undefined) return undefined;
  const { turns: given } = program;
  const records = (Array.isArray(given) ? given : []) as readonly (Recorded | undefined)[];
  const reasons = new Map(
    Object.keys(trajectory.agents).map((agent) => [agent, reasonsOf(trajectory, agent, credits, records, state)]),
  );
  const latest = new Map<AgentId, number>();
  const made = trajectory.turns.flatMap((turn, i) => {
    const { agent, isFresh = false, tokens } = turn;
    const { match, parent, at, seconds, retries } = (records[i] ?? {}) as Recorded;
    const last = latest.get(agent);
    latest.set(agent, i);
    const isBranch = last === undefined || isFresh;
    const known = records.findIndex((each) => each?.["call"] === parent);
    const own =
      tokens === undefined ? [] : (reasons.get(agent)?.[tokens.segment] ?? []).slice(tokens.start, tokens.end);
    const unlearnt = countsOf(own.filter((reason) => reason !== ""));
    const node = {
      ...{ turn: i, agent, match: typeof match === "string" ? match : undefined, isBranch },
      parent: isBranch ? (known < 0 ? null : known) : (last as number),
      ...(typeof at === "number" && { at }),
      ...(typeof seconds === "number" && { seconds }),
      ...{ sampled: own.length, learnt: own.filter((reason) => reason === "").length, unlearnt },
    };
    const again = (Array.isArray(retries) ? retries : []).map((time) => ({
      ...{ turn: i, agent, match: "retry", isBranch: true, parent: i, at: Number(time) },
      ...{ sampled: 0, learnt: 0, unlearnt: {} },
    }));
    return [node, ...again];
  });
  const sorted = made.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
  const rowOf = new Map(sorted.flatMap((node, row) => (node.match === "retry" ? [] : [[node.turn, row]])));
  return sorted.map((node) => ({ ...node, parent: node.parent === null ? null : (rowOf.get(node.parent) ?? null) }));
}

/** Returns for each token of an agent the reason for which it is not learnt; "" for one that is. */
function reasonsOf(
  trajectory: Trajectory,
  agent: AgentId,
  credits: readonly StoredCredit[],
  records: readonly (Recorded | undefined)[],
  state: string,
): string[][] {
  const part = trajectory.agents[agent] as Trajectory["agents"][AgentId];
  const own = credits.filter((credit) => credit.agent === agent);
  const advantages = sampledValues(part.segments, own, "advantage");
  const all = partReason(trajectory, part, state);
  const reasons = part.segments.map(({ logprobs }, s) =>
    Array.from(logprobs, (logprob, t) => {
      if (!Number.isFinite(logprob)) return "non-finite";
      return Number.isNaN(advantages[s]?.[t]) ? all : "";
    }),
  );
  for (const { segment, start, end } of wastedSpans(trajectory, agent)) {
    const turn = trajectory.turns.findIndex((each) => isAt(each, agent, segment, start));
    reasons[segment]?.fill(String(records[turn]?.["unread"] ?? "not read"), start, end);
  }
  return reasons;
}

/** Returns the reason for which no learner has learnt from a part. */
function partReason({ error }: Trajectory, part: Trajectory["agents"][AgentId], state: string): string {
  const reward = learntReward(part);
  if (part.player.kind !== "policy") return `player: ${part.player.kind}`;
  if (error !== undefined) return `failed: ${error.code}`;
  if (!reward.scored) return `unscored: ${reward.code}`;
  return state === "taken" ? "left out by the algorithm" : state;
}

function isAt({ agent, tokens }: TurnRecord, of: AgentId, segment: number, start: number): boolean {
  return agent === of && tokens?.segment === segment && tokens.start === start;
}

function countsOf(reasons: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return Object.fromEntries(counts);
}
