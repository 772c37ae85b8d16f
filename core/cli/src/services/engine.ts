import { connectEngine, type SamplerPool } from "@mrlm/client";
import { type EnginePlace, enginesOf, engineThreads, type PluginHost, type ResolvedConfig } from "@mrlm/runtime";
import { defined, MrlmError } from "@mrlm/spec";
import type { DistributedOptions, Engine } from "@mrlm/spec/host";
import { engineToken } from "./client-access.ts";

/** Engine with the function that releases it. */
export interface EngineService {
  readonly engine: Engine;
  /** Whether the engine keeps running after `stop`. The caller then releases the models that it created. */
  readonly isShared: boolean;
  /** Place of the engine, for other processes of the run. */
  readonly place: EnginePlace;
  stop(): Promise<void>;
}

/** Options of `openEngine`. */
export interface OpenEngineOptions {
  readonly config: ResolvedConfig;
  readonly plugins: PluginHost;
  /** Directory for the log of a started engine, if any. */
  readonly logDirectory: string | undefined;
  /** Cancels the start. An engine that has started keeps running, so that the work under way can finish. */
  readonly signal: AbortSignal;
  /** Receives lines for people about what the start waits for. */
  readonly notice?: (line: string) => void;
  /** Samplers beside the engine's own. */
  readonly samplers?: SamplerPool;
  /** Whether the engine only estimates memory, for devices of another machine: it is one process on the CPU. */
  readonly onlyEstimates?: boolean;
  /** Receives the process of a started engine. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
  /** Name in messages, and the end that it shares with others; for one of several engines of a run. */
  readonly among?: { readonly name: string; readonly lost: AbortController };
}

/** Connects to the engine that the configuration names, or starts one. */
export async function openEngine(options: OpenEngineOptions): Promise<EngineService> {
  const { config, onlyEstimates = false } = options;
  const { engine: settings, seed } = config;
  const samplers = options.samplers === undefined ? {} : { samplers: options.samplers };
  if (settings.address !== undefined) {
    const access = { ...engineToken(settings.token_file), ...samplers };
    const engine = await connectEngine(settings.address, access);
    return {
      engine,
      isShared: true,
      place: { address: settings.address, ...engineToken(settings.token_file) },
      stop: () => engine.close(),
    };
  }
  const provider = await options.plugins.engine(settings.provider);
  const devices = onlyEstimates
    ? ({ device: "cpu" } as const)
    : { device: settings.device, ...defined({ gpu: settings.gpu, distributed: distributedOptions(config) }) };
  const start = new AbortController();
  const cancel = (): void => start.abort(options.signal.reason);
  if (options.signal.aborted) cancel();
  options.signal.addEventListener("abort", cancel);
  const launched = await provider.launch({
    ...devices,
    mode: settings.mode,
    seed,
    signal: start.signal,
    ...defined({ notice: options.notice, logDirectory: options.logDirectory }),
    ...engineThreads(config),
  });
  options.signal.removeEventListener("abort", cancel);
  options.onStarted?.(launched);
  const { name, lost } = options.among ?? { lost: new AbortController() };
  void launched.exited.then(({ cause, code, signal }) => {
    const reason = cause ?? new MrlmError("ENGINE_EXITED", `The engine process ended (${signal ?? `code ${code}`}).`);
    lost.abort(name === undefined || !MrlmError.isInstance(reason) ? reason : named(reason, name));
  });
  const engine = await connectEngine(launched.address, {
    lost: lost.signal,
    token: launched.token,
    ...samplers,
  }).catch(async (error: unknown) => {
    await launched.stop();
    throw error;
  });
  return {
    engine,
    isShared: false,
    place: { address: launched.address, token: launched.token },
    async stop() {
      await engine.close();
      await launched.stop();
    },
  };
}

/** Returns the process layout of a configuration's engine; `undefined` for a single process. */
export function distributedOptions({ distributed, engine }: ResolvedConfig): DistributedOptions | undefined {
  const { strategy, nproc_per_node, nnodes, master_addr, master_port, join_seconds } = distributed;
  if (nproc_per_node * nnodes === 1) return undefined;
  const master = {
    ...defined({ masterAddress: master_addr, masterPort: master_port }),
  };
  const { context = 1, tensor = 1 } = engine.parallel ?? {};
  const data = (nproc_per_node * nnodes) / (context * tensor);
  return {
    strategy,
    // Programs that only play take the processes of one machine, which may be too few for the mesh: sampling needs none.
    ...(Number.isInteger(data) && context * tensor > 1 ? { parallel: { data, context, tensor } } : {}),
    processesPerNode: nproc_per_node,
    nodes: nnodes,
    ...(nnodes === 1 ? {} : { ...master, joinSeconds: join_seconds }),
  };
}

function named({ code, message, hint, isRetryable, cause }: MrlmError, engine: string): MrlmError {
  return new MrlmError(code, `Engine "${engine}": ${message}`, { hint, isRetryable, cause });
}

/** Whether an engine is started for a run. */
export function startsEngine(config: ResolvedConfig): boolean {
  return enginesOf(config).some((each) => each.config.engine.address === undefined);
}

/** Rejects with ENGINE_NOT_SET_UP, before any process starts, if the run must start an engine that is not installed. */
export async function assertEngineInstalled(config: ResolvedConfig, plugins: PluginHost): Promise<void> {
  if (!startsEngine(config)) return;
  const installation = await (await plugins.engine(config.engine.provider)).locate();
  if (installation === undefined)
    throw new MrlmError("ENGINE_NOT_SET_UP", `The engine "${config.engine.provider}" is not set up on this machine.`);
}
