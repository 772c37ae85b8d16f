import type { Renderer, SampleRequest } from "@mrlm/spec";
import { type EpisodePlan, samplingKey } from "./episode-plan.ts";

/**
 * Creates the request for the tokens of a turn.
 * @param room free tokens of the context
 */
export function sampleRequest(
  plan: EpisodePlan,
  renderer: Renderer,
  prompt: Int32Array,
  room: number,
  turn: number,
): SampleRequest {
  const { temperature, maxTokens, minTokens, topP, topK, ignoreStop } = plan.sampling;
  return {
    prompt: prompt.slice(),
    key: samplingKey(plan.identity, turn),
    params: {
      temperature,
      maxTokens: Math.min(maxTokens, room),
      ...(minTokens === undefined ? {} : { minTokens }),
      ...(topP === undefined ? {} : { topP }),
      ...(topK === undefined ? {} : { topK }),
      stopTokenIds: ignoreStop === true ? [] : renderer.stopTokenIds,
    },
  };
}
