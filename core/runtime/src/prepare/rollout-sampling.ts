import { defined, type PolicyId, type RolloutSampling } from "@mrlm/spec";
import type { RolloutRequest } from "@mrlm/spec/host";
import { samplingOf, trainedPolicies } from "../config/policies.ts";
import type { ResolvedConfig, ResolvedSampling, ResolvedStage } from "../config/resolve-config.ts";

/** Converts the sampling section of the configuration to the contract's type. */
export function rolloutSampling(sampling: ResolvedSampling): RolloutSampling {
  return {
    temperature: sampling.temperature,
    maxTokens: sampling.max_tokens,
    ...defined({
      minTokens: sampling.min_tokens,
      topP: sampling.top_p,
      topK: sampling.top_k,
      ignoreStop: sampling.ignore_stop,
    }),
  };
}

/** Returns the sampling of a run outside of its stages, with that of the policies that have their own. */
export function runSampling(config: ResolvedConfig): Pick<RolloutRequest, "sampling" | "policySampling"> {
  return withOwnSampling(config, rolloutSampling(config.sampling), (policy) => samplingOf(config, policy));
}

/** Returns the sampling of a stage, with that of the policies that have their own. */
export function stageSampling(
  config: ResolvedConfig,
  stage: ResolvedStage,
): Pick<RolloutRequest, "sampling" | "policySampling"> {
  return withOwnSampling(config, rolloutSampling(stage.sampling), (policy) => samplingOf(config, policy, stage));
}

function withOwnSampling(
  config: ResolvedConfig,
  sampling: RolloutSampling,
  of: (policy: PolicyId) => ResolvedSampling,
): Pick<RolloutRequest, "sampling" | "policySampling"> {
  const own = trainedPolicies(config)
    .map(({ policy }) => [policy, rolloutSampling(of(policy))] as const)
    .filter(([, each]) => JSON.stringify(each) !== JSON.stringify(sampling));
  return { sampling, ...(own.length === 0 ? {} : { policySampling: Object.fromEntries(own) }) };
}
