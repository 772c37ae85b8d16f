import type { LearnableEpisode } from "@mrlm/kit/learning";

/** Turn of one agent with tokens of the policy. */
export interface EpisodeTurn {
  /** Return to go: R_k = r_k + γ R_{k+1}. */
  readonly toGo: number;
  /** Key of the state in which the agent acted, where the environment states one. */
  readonly state: string | undefined;
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
  const turns: { reward: number; length: number; state: string | undefined; start: number; end: number }[] = [];
  let before = 0;
  for (const { agent: actor, tokens, state, rewards } of trajectory.turns) {
    if (actor === agent && tokens !== undefined) {
      const [start, end] = [tokens.start, tokens.end].map((at) => learntBefore(episode, tokens.segment, at));
      turns.push({ reward: 0, length: tokens.end - tokens.start, state, start: start as number, end: end as number });
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
  return turns.map(({ state, start, end }, k) => ({ toGo: returns[k] as number, state, start, end }));
}

/** Returns the number of learnt tokens before a position of a segment. */
function learntBefore({ rows }: LearnableEpisode, segment: number, position: number): number {
  let count = 0;
  for (const row of rows) {
    if (row.segment > segment) break;
    const mask = row.segment === segment ? row.mask.subarray(0, position) : row.mask;
    count = mask.reduce((total, learnt) => total + learnt, count);
  }
  return count;
}
