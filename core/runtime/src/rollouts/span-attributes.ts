import type { Attributes } from "@opentelemetry/api";
import type { ModelId, Trajectory } from "@mrlm/spec";
import type { SampleRequest, SampleResult } from "@mrlm/spec/host";
import type { EpisodePlan } from "./episode-plan.ts";

// Names that begin with `gen_ai` are those of OpenTelemetry's semantic conventions for generative AI.

export function episodeAttributes({ id, group, description, identity }: EpisodePlan): Attributes {
  return {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": description.id,
    "mrlm.environment": description.id,
    "mrlm.task": identity.task,
    "mrlm.group": group,
    "mrlm.episode": id,
  };
}

export function resultAttributes({ turns, agents, error }: Trajectory): Attributes {
  const rewards = Object.entries(agents).flatMap(([agent, { total }]) =>
    total.scored ? [[`mrlm.reward.${agent}`, total.value] as const] : [],
  );
  return {
    "mrlm.turns": turns.length,
    ...Object.fromEntries(rewards),
    ...(error !== undefined && { "error.type": error.code }),
  };
}

export function requestAttributes(model: ModelId, { prompt, params }: SampleRequest): Attributes {
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mrlm",
    "gen_ai.request.model": model,
    "gen_ai.request.temperature": params.temperature,
    "gen_ai.request.max_tokens": params.maxTokens,
    "gen_ai.usage.input_tokens": prompt.length,
  };
}

export function sampledAttributes({ tokens, stopReason, versions }: SampleResult): Attributes {
  return {
    "gen_ai.usage.output_tokens": tokens.length,
    "gen_ai.response.finish_reasons": [stopReason],
    ...(versions.length > 0 && { "mrlm.version": versions[versions.length - 1] as number }),
  };
}
