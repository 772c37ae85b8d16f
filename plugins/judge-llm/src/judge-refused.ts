import { type AgentId, type Reward, score } from "@mrlm/kit";
import { REFUSED } from "./ask.ts";
import type { JudgedAgents, JudgedPart } from "./judging.ts";
import { verdictOf } from "./verdict-of.ts";

/**
 * Judges. Where the model refuses the conversation, the agents whose turns it refuses alone get 0, and the others are judged without these turns. A
 * refusal that the task causes, or that no agent causes alone, stays unscored.
 */
export async function judgeRefused(
  part: JudgedPart,
  judge: (part: JudgedPart) => Promise<JudgedAgents>,
): Promise<JudgedAgents> {
  const { request, options } = part;
  const judged = await judge(part);
  if (!isRefused(judged)) return judged;
  const speakers = [...new Set(request.turns.map(({ agent }) => agent))];
  const refuses = async (speaker?: AgentId): Promise<boolean> => {
    const turns = request.turns.filter(({ agent }) => agent === speaker);
    const agents = request.agents.slice(0, 2);
    return isRefused(await judge({ request: { ...request, turns, agents }, options: { ...options, votes: 1 } }));
  };
  const [task, ...ofSpeakers] = await Promise.all([undefined, ...speakers].map(refuses));
  const causes = speakers.filter((_, index) => ofSpeakers[index]);
  if (task === true || causes.length === 0) return judged;
  const turns = request.turns.filter(({ agent }) => !causes.includes(agent));
  const agents = request.agents.filter((agent) => !causes.includes(agent));
  const isPairwise = options.mode === "pairwise";
  // One agent alone is not compared.
  const rest =
    agents.length > (isPairwise ? 1 : 0) ? await judge({ request: { ...request, turns, agents }, options }) : undefined;
  const won = isPairwise ? request.agents.length - agents.length : 0;
  const rewards = Object.fromEntries(
    request.agents.map((agent): [AgentId, Reward] => {
      if (causes.includes(agent)) return [agent, score(0)];
      const own = rest?.rewards[agent] ?? score(1);
      if (!own.scored || rest === undefined) return [agent, own];
      const compared = isPairwise ? agents.length - 1 : 1;
      return [agent, { ...own, value: (own.value * compared + won) / (compared + won) }];
    }),
  );
  const names = causes.join(", ");
  return {
    rewards,
    verdict: isPairwise && agents.length > 0 ? verdictOf(rewards) : "undecided",
    reasons: [`The model refuses the text of ${names}, also when asked again.`, ...(rest?.reasons ?? [])],
    answers: rest?.answers ?? [],
    detail: { ...rest?.detail, refused: causes },
    cut: rest?.cut ?? 0,
  };
}

function isRefused({ rewards }: JudgedAgents): boolean {
  return Object.values(rewards).some((reward) => !reward.scored && reward.code === REFUSED);
}
