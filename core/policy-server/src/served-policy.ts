import type { ChatRenderer } from "@mrlm/kit/renderer";
import type { ModelId } from "@mrlm/spec";
import type { Engine, EngineInfo, Sampler } from "@mrlm/spec/host";
import { WaveSampler } from "./sampling/waves.ts";

export interface PolicySource {
  /** Model id in requests. */
  readonly id: string;
  /** Engine that holds the model. Closing the server does not close it. */
  readonly engine: Pick<Engine, "describe" | "sampler" | "forward">;
  /** Model of the engine. */
  readonly model: ModelId;
  readonly renderer: ChatRenderer;
  /** Longest sequence in tokens. Default: that of the engine's model. */
  readonly maxPositions?: number;
}

/** Policy with an open sampler. */
export interface ServedPolicy extends PolicySource {
  readonly maxPositions: number;
  readonly sampler: Sampler;
  /** Version of the weights that sampled last. */
  version: number;
  /** Whether the model has a value head, and so scores conversations under a second id. */
  readonly hasValueHead: boolean;
  /** Whether its answers are scores of conversations. */
  readonly isReward: boolean;
}

/** Returns the policies with, for each that has a value head, its scores as a model of its own: `ID-reward`. */
export function withRewards(policies: readonly ServedPolicy[]): ServedPolicy[] {
  return policies.flatMap((policy) =>
    policy.hasValueHead ? [policy, { ...policy, id: `${policy.id}-reward`, isReward: true }] : [policy],
  );
}

/** Opens a sampler of a policy. */
export async function openPolicy(source: PolicySource): Promise<ServedPolicy> {
  const info = await source.engine.describe();
  const { maxPositions, version, hasValueHead } = modelOf(info, source.model);
  const sampler = await source.engine.sampler(source.model);
  return {
    ...source,
    maxPositions: source.maxPositions ?? maxPositions,
    sampler: info.deterministic ? new WaveSampler(sampler) : sampler,
    version,
    hasValueHead,
    isReward: false,
  };
}

/** Name of weights in responses. */
export function fingerprintOf(version: number): string {
  return `weights-${version}`;
}

function modelOf(info: EngineInfo, model: ModelId): Pick<ServedPolicy, "maxPositions" | "version" | "hasValueHead"> {
  const found = info.models.find((each) => each.model === model);
  return {
    maxPositions: found === undefined || found.maxPositions === 0 ? Number.POSITIVE_INFINITY : found.maxPositions,
    version: found?.version ?? 0,
    hasValueHead: found?.hasValueHead ?? false,
  };
}
