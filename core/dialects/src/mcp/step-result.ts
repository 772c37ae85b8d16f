import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Reward, StepResult } from "@mrlm/spec";
import type { EpisodeEnd } from "../episode.ts";
import { contentOf } from "./content.ts";

/** Parts of a step that become the result of a tool call. */
export interface Stepped {
  /** Id of the tool call; `undefined` for an answer. */
  readonly callId?: string;
  /** Agent that acted. */
  readonly agent: string;
  readonly result: StepResult;
  /** Set by the last step of an episode. */
  readonly end: EpisodeEnd | undefined;
  readonly revealRewards: boolean;
}

/**
 * Returns the result of a tool call: the new messages, and after the last step a sentence about the end. `_meta.mrlm` has the facts for programs:
 * `terminated` and `truncated`; with revealed rewards `reward` and `components` of this step, or `unscored`, and after the last step `total`.
 */
export function callToolResult({ callId, agent, result, end, revealRewards }: Stepped): CallToolResult {
  const { messages } = result.observation;
  const own = messages.flatMap(({ parts }) => parts).find((part) => part.type === "tool-result" && part.id === callId);
  const reward = result.rewards[agent];
  const lost = end !== undefined && !end.reward.scored ? end.reward : undefined;
  return {
    content: [
      ...contentOf(messages),
      ...(end === undefined ? [] : [{ type: "text" as const, text: endText(end, revealRewards) }]),
    ],
    isError: (own?.type === "tool-result" && own.isError) || lost !== undefined,
    _meta: {
      mrlm: {
        terminated: end?.terminated ?? false,
        truncated: end?.truncated ?? false,
        ...(revealRewards && {
          ...(reward === undefined ? { reward: 0, components: {} } : rewardFields(reward)),
          ...(end !== undefined && { total: rewardFields(end.reward) }),
        }),
      },
    },
  };
}

function rewardFields(reward: Reward) {
  return reward.scored
    ? { reward: reward.value, components: reward.components }
    : { unscored: { code: reward.code, message: reward.message } };
}

/** States that the episode has ended. A failure of the server is stated in any case, because the messages do not explain the end. */
function endText({ terminated, reward }: EpisodeEnd, revealRewards: boolean): string {
  if (!reward.scored) {
    const reason = revealRewards ? `${reward.code}: ${reward.message}` : reward.code;
    return `The episode has ended without a reward, because it could not be computed (${reason}).`;
  }
  const fact = terminated ? "The episode has ended." : "The episode has ended: a limit was reached.";
  return revealRewards ? `${fact} Reward: ${Number(reward.value.toPrecision(12))}.` : fact;
}
