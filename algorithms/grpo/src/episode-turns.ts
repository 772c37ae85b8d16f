import type { LearnableEpisode } from "@mrlm/kit/learning";
import { branchReturns } from "./branch-returns.ts";

/** Turn of one agent with tokens of the policy. */
export interface EpisodeTurn {
  /** Return to go: R_k = r_k + γ R_{k+1}. */
  readonly toGo: number;
  /** Key of the state in which the agent acted, where the environment states one. */
  readonly state: string | undefined;
  /** Returns of its scored branches; absent where none is. */
  readonly branches?: readonly number[];
  /** Its learnt tokens among those of the episode: from `start` to before `end`. Empty where none is learnt. */
  readonly start: number;
  readonly end: number;
}

/**
 * Divides an agent's episode into its turns, with their returns to go. A reward belongs to the agent's latest turn, as in PPO: also a reward of a turn of
 * another agent; one before its first turn belongs to the first. Where roles share rewards, it is the weighted sum of the agents' rewards.
 *
 * @param gamma discount of each later turn
 * @param penalty added to the reward of the longest turn
 */
export function episodeTurns(episode: LearnableEpisode, gamma: number, penalty: number): EpisodeTurn[] {
  const { trajectory, agent, weights } = episode;
  const turns: (Omit<EpisodeTurn, "toGo"> & { reward: number; length: number })[] = [];
  const learnt = learntBefore(episode);
  let before = 0;
  for (const record of trajectory.turns) {
    const { agent: actor, tokens, state, rewards } = record;
    if (actor === agent && tokens !== undefined) {
      const counts = learnt.get(tokens.segment);
      const [start, end] = [counts?.[tokens.start] ?? 0, counts?.[tokens.end] ?? 0];
      // Those of the first turn lack what was earned before it, which its return to go has.
      const branches = branchReturns(record, weights).map((each) => each + (turns.length === 0 ? before : 0));
      turns.push({ reward: 0, length: tokens.end - tokens.start, state, branches, start, end });
    }
    let earned = 0;
    for (const [earner, weight] of Object.entries(weights)) {
      const reward = rewards[earner];
      if (reward?.scored === true) earned += weight * reward.value;
    }
    const latest = turns.at(-1);
    if (latest === undefined) before += earned;
    else latest.reward += earned;
  }
  const [first] = turns;
  if (first === undefined) return [];
  first.reward += before;
  const longest = Math.max(...turns.map(({ length }) => length));
  (turns.find(({ length }) => length === longest) ?? first).reward += penalty;
  const returns = turns.map(({ reward }) => reward);
  for (let k = returns.length - 2; k >= 0; k--)
    returns[k] = (returns[k] as number) + gamma * (returns[k + 1] as number);
  return turns.map(({ reward: _, length: __, ...turn }, k) => ({ toGo: returns[k] as number, ...turn }));
}

/** Returns the number of learnt tokens of the episode before each position of its segments, the end included. Segments without learnt tokens are left out. */
function learntBefore({ rows }: LearnableEpisode): ReadonlyMap<number, Int32Array> {
  let count = 0;
  return new Map(
    rows.map(({ segment, mask }) => {
      const counts = new Int32Array(mask.length + 1).fill(count, 0, 1);
      for (const [at, learnt] of mask.entries()) counts[at + 1] = count += learnt;
      return [segment, counts];
    }),
  );
}
