import { type Judge, type Judgement, type JudgeRequest, messageText, type Reward, score, unscored } from "@mrlm/kit";
import { z } from "zod";

/** Options of the plugin, in the section `plugins` of a configuration. */
export const options = z
  .strictObject({ partial: z.number().min(0).max(0.5).default(0).describe("Reward of a part of the wanted letters") })
  .prefault({});
type Options = z.output<typeof options>;

/**
 * Returns a judge of conversations about letters. The private part of the task has the letters that an agent should write in its last message.
 * It never throws. A task that does not state them is unscored for every agent, which training leaves out: no agent caused it.
 */
export function lettersJudge({ partial }: Options): Judge {
  const rewardOf = (text: string, wanted: string): Reward => {
    const written = [...text.trim()];
    const correct = Number(written.length === wanted.length && new Set(written).isSupersetOf(new Set(wanted)));
    const isPart =
      written.length > 0 && new Set(written).size === written.length && new Set(written).isSubsetOf(new Set(wanted));
    return score(correct === 1 ? 1 : isPart ? partial : 0, { correct });
  };
  const judge = ({ turns, agents, task }: JudgeRequest): Judgement => {
    const { wanted } = task.private;
    if (typeof wanted !== "string" || wanted === "") {
      const reason = "The task does not state which letters are wanted.";
      const none = unscored("JUDGE_UNDECIDED", reason);
      return { rewards: Object.fromEntries(agents.map((agent) => [agent, none])), verdict: "undecided", reason };
    }
    const rewards = Object.fromEntries(
      agents.map((agent) => {
        const last = turns.findLast((turn) => turn.agent === agent);
        return [agent, rewardOf(last === undefined ? "" : messageText(last.message), wanted)];
      }),
    );
    const right = agents.filter((agent) => {
      const reward = rewards[agent];
      return reward?.scored && reward.value === 1;
    });
    return {
      rewards,
      verdict: right.length === 0 ? "none" : right.join(", "),
      reason: `${right.length} of ${agents.length} agents wrote every wanted letter once.`,
    };
  };
  return { judge: async (request) => judge(request) };
}
