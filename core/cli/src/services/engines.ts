import { connectEngine, routedEngine, type SamplerPool } from "@mrlm/client";
import {
  type ConfiguredEngine,
  type EnginePlaces,
  enginesOf,
  MAIN_ENGINE,
  type PluginHost,
  type ResolvedConfig,
  type RunDirectory,
} from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { type EngineService, openEngine, type OpenEngineOptions } from "./engine.ts";
import type { SamplerPools } from "./samplers.ts";

/** Engines of a run, joined to one. */
export interface EnginesService extends Pick<EngineService, "engine" | "isShared" | "stop"> {
  /** Places of the engines, for other processes of the run. */
  readonly places: EnginePlaces;
  /** The single engines, the main one first. */
  readonly parts: readonly { readonly name: string; readonly engine: Engine; readonly address: string }[];
}

/** Options of `openEngines`. */
export interface OpenEnginesOptions extends Pick<OpenEngineOptions, "signal" | "notice" | "onlyEstimates"> {
  readonly config: ResolvedConfig;
  readonly plugins: PluginHost;
  /** Run whose directory gets the logs of started engines. */
  readonly run?: RunDirectory;
  /** Samplers beside those of the engines. */
  readonly samplers?: SamplerPools;
  /** Receives the process of a started engine, with the name of one beside the main one. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }, name?: string) => void;
}

/** Connects to the engines that the configuration names, and starts the others. The end of a started one ends the calls of all that were started. */
export async function openEngines({
  config,
  run,
  samplers,
  onStarted,
  ...options
}: OpenEnginesOptions): Promise<EnginesService> {
  const configured = enginesOf(config);
  const isAlone = configured.length === 1;
  const lost = new AbortController();
  const opening = configured.map(({ name, config: own }) => {
    const further = name === MAIN_ENGINE ? undefined : name;
    return openEngine({
      ...options,
      config: own,
      logDirectory: run?.engineLogs(further),
      ...withPool(samplers?.get(name)),
      ...(isAlone ? {} : { among: { name, lost } }),
      ...(onStarted === undefined ? {} : { onStarted: (process) => onStarted(process, further) }),
    });
  });
  const results = await Promise.allSettled(opening);
  const opened = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const stop = async (): Promise<void> => void (await Promise.all(opened.map((each) => each.stop())));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }
  const [main, ...others] = opened.map(({ place }) => place);
  const engines = Object.fromEntries(configured.slice(1).map(({ name }, i) => [name, others[i]]));
  return {
    engine: joined(
      configured,
      opened.map(({ engine }) => engine),
    ),
    isShared: opened.some(({ isShared }) => isShared),
    places: { ...main, ...(isAlone ? {} : { engines }) } as EnginePlaces,
    parts: opened.map(({ engine, place: { address } }, i) => ({
      name: (configured[i] as ConfiguredEngine).name,
      engine,
      address,
    })),
    stop,
  };
}

/** Connects to the engines of the process that trains a run. */
export async function connectEngines(
  config: ResolvedConfig,
  places: EnginePlaces,
  samplers: SamplerPools,
): Promise<Engine> {
  const configured = enginesOf(config);
  const connecting = configured.map(async ({ name }) => {
    const place = name === MAIN_ENGINE ? places : places.engines?.[name];
    if (place === undefined)
      throw new MrlmError("ENGINE_UNAVAILABLE", `The training process has no engine "${name}".`, {
        hint: "Start this process again with the present configuration of the run.",
      });
    const { address, token } = place;
    return await connectEngine(address, { ...withPool(samplers.get(name)), ...defined({ token }) });
  });
  const results = await Promise.allSettled(connecting);
  const engines = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const failed = results.find((result) => result.status === "rejected");
  if (failed === undefined) return joined(configured, engines);
  await Promise.all(engines.map((engine) => engine.close()));
  throw failed.reason;
}

function joined(configured: readonly ConfiguredEngine[], engines: readonly Engine[]): Engine {
  const [first, ...others] = engines as [Engine, ...Engine[]];
  if (others.length === 0) return first;
  return routedEngine(
    configured.map(({ name, models, config }, i) => ({
      name,
      engine: engines[i] as Engine,
      models,
      ...deviceOf(config),
    })),
  );
}

/** Engines that are started with one device share its memory. The ranks of a distributed engine have devices of their own. */
function deviceOf({ engine: { address, device, gpu = 0 }, distributed }: ResolvedConfig): { readonly memory?: string } {
  if (address !== undefined || distributed.nproc_per_node * distributed.nnodes > 1) return {};
  return { memory: device === "cpu" ? device : `${device} ${gpu}` };
}

function withPool(samplers: SamplerPool | undefined): { readonly samplers?: SamplerPool } {
  return samplers === undefined ? {} : { samplers };
}
