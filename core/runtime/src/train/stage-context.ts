import { resolve } from "node:path";
import { hash64 } from "@mrlm/kit/service";
import type { AlgorithmContext, Logger, Renderer, RolloutSampling, TrainingEnvironment } from "@mrlm/spec";
import type { EpisodeSource, ModelInfo, Trainer } from "@mrlm/spec/host";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { ownSuffix, type Reference } from "../models/reference-model.ts";
import { learningEngine } from "../models/engine-views.ts";
import type { RandomStreams } from "./random-streams.ts";
import { readRows } from "../collection/rows.ts";
import { sha256OfFile } from "../run/atomic-write.ts";

/** Parts of a stage's context. */
export interface StageParts {
  readonly index: number;
  readonly config: ResolvedConfig;
  readonly engine: Trainer;
  readonly policy: ModelInfo;
  readonly reference: Reference;
  readonly renderer: Renderer;
  readonly episodes: EpisodeSource;
  /** Sampling of the policy in this stage. */
  readonly sampling: RolloutSampling;
  readonly environments: readonly TrainingEnvironment[];
  readonly streams: RandomStreams;
  /** Called with the path and SHA-256 of each data file before its rows are used. */
  readonly onData: (path: string, sha256: string) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Creates the context of the algorithm of one stage. */
export function stageContext(parts: StageParts): AlgorithmContext {
  const {
    index,
    config,
    engine,
    policy,
    reference,
    renderer,
    episodes,
    sampling,
    environments,
    streams,
    logger,
    signal,
  } = parts;
  const isAlone = Object.keys(config.policies).length === 1;
  return {
    engine: learningEngine(engine, ownSuffix(config, policy.model)),
    policy: policy.model,
    reference: () => reference.model(),
    renderer,
    episodes,
    sampling,
    environments,
    async rows(path) {
      const rows = await readRows(path, config.base_directory);
      parts.onData(path, await sha256OfFile(resolve(config.base_directory, path)));
      return rows;
    },
    logger,
    // Learners of one stage have streams of their own.
    random: (name) => streams.get(isAlone ? name : `${policy.model}:${name}`),
    seed: stageSeed(config.seed, index),
    signal,
  };
}

/** Returns the seed of a stage, 53 bits. Each stage has its own, so that two stages of one algorithm read data in different orders. */
export function stageSeed(runSeed: number, index: number): number {
  return Number(hash64(`stage/${runSeed}/${index}`) >> 11n);
}
