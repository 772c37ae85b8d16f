import { setTimeout } from "node:timers/promises";
import { SamplerPool } from "@mrlm/client";
import {
  enginesOf,
  engineThreads,
  MAIN_ENGINE,
  type TrainOptions,
  type PluginHost,
  type ResolvedConfig,
  type RunDirectory,
} from "@mrlm/runtime";
import { defined, type Logger } from "@mrlm/spec";
import type { EngineProcess, EngineProvider } from "@mrlm/spec/host";

/** Time between two looks for samplers that join a run, in milliseconds. */
const LOOK_MS = 500;
/** Longest pause before a sampler that ended is started again, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000;

/** Pools of samplers by the name of their engine. A sampler that joins a run is in all of them. */
export type SamplerPools = ReadonlyMap<string, SamplerPool>;

/** Samplers of a run in other processes. */
export interface RunSamplers {
  /** By name of the engine. */
  readonly pools: SamplerPools;
  /** Returns the number of samplers that serve now. */
  count(): number;
  /** The samplers that serve, for the list of members. */
  readonly members: NonNullable<TrainOptions["members"]>;
  /** Resolves when each sampler of the configuration was started once, or could not be. */
  readonly started: Promise<void>;
  stop(): Promise<void>;
}

/** Options of `samplerPools`. */
export interface SamplerPoolsOptions {
  readonly logger: Logger;
  /** Whether this process trains the run, and updates its samplers. */
  readonly updates: boolean;
  /** Whether this process finds the samplers that join the run. */
  readonly findsJoined: boolean;
  /** Aborted to end the waits for samplers. */
  readonly waitEnd?: AbortSignal;
}

/** Whether samplers must compute the bits of the engine. */
export function promisesBits({ play, engine }: ResolvedConfig): boolean {
  return play.mode !== "async" && engine.mode !== "throughput";
}

/** Makes the pools of the samplers of a run. Which of them sample depends on the mode of play. */
export function samplerPools(
  config: ResolvedConfig,
  { findsJoined, updates, ...others }: SamplerPoolsOptions,
): SamplerPools {
  const { play, engine } = config;
  const waitMs = engine.sampler_wait_seconds * 1000;
  const options = {
    ...others,
    updates,
    exact: promisesBits(config),
    newest: play.mode !== "async",
    sleeps: updates && play.mode === "sync",
    trainerSamples: play.mode === "sync" && waitMs === 0,
  };
  return new Map(
    enginesOf(config).map(({ name, config: own }) => {
      // Rollout workers do not find the samplers that the training process starts.
      const finds = findsJoined && (updates || own.engine.samplers === 0);
      return [name, new SamplerPool({ ...options, waitMs: finds ? waitMs : 0 })];
    }),
  );
}

/** Returns the options with which a sampler of a run is started: those of its engine. */
export function samplerLaunch(config: ResolvedConfig): Parameters<EngineProvider["launch"]>[0] {
  const { device, mode, gpu } = config.engine;
  // Lanes only train, and are among the threads by which a sampler is compared with the engine.
  const threads = engineThreads(config);
  return { device, mode, samplesOnly: true, seed: config.seed, ...threads, ...defined({ gpu }) };
}

/** Starts the samplers of a configuration, and adds those that join the run. A sampler that ends is started again. */
export function openSamplers(options: {
  readonly config: ResolvedConfig;
  readonly plugins: PluginHost;
  readonly run: RunDirectory;
  readonly logger: Logger;
  /** Aborted to end the waits for samplers. */
  readonly waitEnd: AbortSignal;
  /** Receives each process that has started. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}): RunSamplers {
  const { config, plugins, run, logger, waitEnd, onStarted } = options;
  const pools = samplerPools(config, { logger, updates: true, findsJoined: true, waitEnd });
  const stopping = new AbortController();
  const { signal } = stopping;
  const processes = new Set<EngineProcess>();
  const keep = async ({ name, pool, config }: KeptSampler, onAttempt: () => void): Promise<void> => {
    for (let pauseMs = 1_000; !signal.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      try {
        const provider = await plugins.engine(config.engine.provider);
        const launched = await provider.launch({
          ...samplerLaunch(config),
          logDirectory: run.samplerLogs(name),
          signal,
        });
        processes.add(launched);
        pool.add({ name, address: launched.address, token: launched.token });
        onStarted?.(launched);
        onAttempt();
        const { cause } = await launched.exited;
        processes.delete(launched);
        await pool.remove(name);
        if (!signal.aborted) logger.warn(`sampler ${name} ended and is started again: ${cause?.message ?? "no cause"}`);
      } catch (error) {
        if (!signal.aborted) logger.warn(`sampler ${name} could not be started: ${(error as Error).message}`);
      }
      onAttempt();
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  };
  const kept = enginesOf(config).flatMap(({ name, config: own }) =>
    Array.from({ length: own.engine.samplers }, (_, i) => ({
      name: `${name === MAIN_ENGINE ? "" : `${name}-`}sampler-${i + 1}`,
      pool: pools.get(name) as SamplerPool,
      config: own,
      attempt: Promise.withResolvers<void>(),
    })),
  );
  const serving = () => new Map([...pools.values()].flatMap((pool) => pool.serving()).map((each) => [each.name, each]));
  const work = [
    followSamplers(run, pools, { signal, logger }),
    ...kept.map((each) => keep(each, each.attempt.resolve)),
  ];
  return {
    pools,
    started: Promise.all(kept.map(({ attempt }) => attempt.promise)).then(() => undefined),
    count: () => serving().size,
    members: async () =>
      Array.from(serving().values(), ({ name, address, info: { device, deviceName, capabilities } }) => ({
        id: name,
        kind: "sampler" as const,
        address,
        capabilities: { device, deviceName, deterministic: capabilities.deterministic },
      })),
    async stop() {
      stopping.abort();
      await closePools(pools);
      await Promise.all([...processes].map((each) => each.stop()));
      await Promise.all(work);
    },
  };
}

/** A sampler of the configuration. */
interface KeptSampler {
  readonly name: string;
  readonly pool: SamplerPool;
  /** Configuration with the engine that it samples beside. */
  readonly config: ResolvedConfig;
}

export async function closePools(pools: SamplerPools): Promise<void> {
  await Promise.all(Array.from(pools.values(), (pool) => pool.close()));
}

/** Adds the samplers that join a run, and removes those that leave it, until it is stopped. A look that fails is reported, and repeated. Never rejects. */
export async function followSamplers(
  run: RunDirectory,
  pools: SamplerPools,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
): Promise<void> {
  const joined = new Map<string, string>();
  let isReported = false;
  while (!signal.aborted) {
    try {
      await look(run, pools, joined);
      isReported = false;
    } catch (error) {
      if (!isReported)
        logger.warn(`samplers that join or leave ${run.path} are not noticed: ${(error as Error).message}`);
      isReported = true;
    }
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** @param joined place of each sampler that was added, by name; this changes it */
async function look(run: RunDirectory, pools: SamplerPools, joined: Map<string, string>): Promise<void> {
  const places = new Map(run.readSamplers().map((place) => [place.name, place]));
  for (const [name, place] of places) {
    const key = JSON.stringify(place);
    if (joined.get(name) === key) continue;
    joined.set(name, key);
    const { engines, pid: _pid, host: _host, ...reached } = place;
    for (const [engine, pool] of pools) {
      const trainer = engines?.[engine];
      pool.add({ ...reached, ...defined({ trainer }) });
    }
  }
  for (const name of joined.keys())
    if (!places.has(name)) {
      joined.delete(name);
      await Promise.all(Array.from(pools.values(), (pool) => pool.remove(name)));
    }
}
