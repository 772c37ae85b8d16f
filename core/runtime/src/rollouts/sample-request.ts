import type { Renderer, RolloutSampling } from "@mrlm/spec";
import type { SampleRequest } from "@mrlm/spec/host";
import { type EpisodePlan, samplingKey } from "./episode-plan.ts";

/**
 * Creates the request for the tokens of a turn.
 * @param room free tokens of the context
 */
export function sampleRequest(
  { identity }: Pick<EpisodePlan, "identity">,
  turn: number,
  sampling: RolloutSampling,
  renderer: Renderer,
  prompt: Int32Array,
  room: number,
): SampleRequest {
  const { temperature, maxTokens, minTokens, topP, topK, ignoreStop } = sampling;
  return {
    prompt: prompt.slice(),
    key: samplingKey(identity, turn),
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
