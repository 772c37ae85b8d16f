import { connectEngine } from "@mrlm/client";
import { engineThreads, type PluginHost, type ResolvedConfig } from "@mrlm/runtime";
import { type DistributedOptions, type Engine, MrlmError } from "@mrlm/spec";
import { tokenOption } from "./token.ts";

/** The engine of a run, and what it takes to let go of it. */
export interface EngineService {
  readonly engine: Engine;
  /** Whether it runs on after `stop`; then whoever made models in it releases them. */
  readonly isShared: boolean;
  stop(): Promise<void>;
}

/** What it takes to come by an engine. */
export interface OpenEngineOptions {
  readonly config: ResolvedConfig;
  readonly plugins: PluginHost;
  /** Where the log of one that is started is kept, if anywhere. */
  readonly logDirectory: string | undefined;
  /** Gives up the start; an engine that has come up stays, so that what is under way can be finished. */
  readonly signal: AbortSignal;
  /** Told what it waits for, where that is a person's business. */
  readonly notice?: (line: string) => void;
  /** Told of one that was started. */
  readonly onStarted?: (process: { readonly pid: number; readonly address: string }) => void;
}

/** Connects to the engine that the configuration names, or starts one. */
export async function openEngine(options: OpenEngineOptions): Promise<EngineService> {
  const { engine: wanted, seed } = options.config;
  if (wanted.address !== undefined) {
    const engine = await connectEngine(wanted.address, tokenOption(wanted.token_file));
    return { engine, isShared: true, stop: () => engine.close() };
  }
  const provider = await options.plugins.engine(wanted.provider);
  const distributed = distributedOptions(options.config);
  const start = new AbortController();
  const giveUp = (): void => start.abort(options.signal.reason);
  if (options.signal.aborted) giveUp();
  options.signal.addEventListener("abort", giveUp);
  const launched = await provider.launch({
    device: wanted.device,
    mode: wanted.mode,
    seed,
    signal: start.signal,
    ...(options.notice === undefined ? {} : { notice: options.notice }),
    ...(options.logDirectory === undefined ? {} : { logDirectory: options.logDirectory }),
    ...engineThreads(options.config),
    ...(distributed === undefined ? {} : { distributed }),
  });
  options.signal.removeEventListener("abort", giveUp);
  options.onStarted?.(launched);
  const lost = new AbortController();
  void launched.exited.then(({ cause, code, signal }) =>
    lost.abort(cause ?? new MrlmError("ENGINE_EXITED", `The engine process ended (${signal ?? `code ${code}`}).`)),
  );
  const engine = await connectEngine(launched.address, { lost: lost.signal, token: launched.token }).catch(
    async (error: unknown) => {
      await launched.stop();
      throw error;
    },
  );
  return {
    engine,
    isShared: false,
    async stop() {
      await engine.close();
      await launched.stop();
    },
  };
}

/** The processes of a configuration's engine; `undefined` for one. */
export function distributedOptions({ distributed }: ResolvedConfig): DistributedOptions | undefined {
  const { strategy, nproc_per_node, nnodes, master_addr, master_port, join_seconds } = distributed;
  if (nproc_per_node * nnodes === 1) return undefined;
  const master = {
    ...(master_addr === undefined ? {} : { masterAddress: master_addr }),
    ...(master_port === undefined ? {} : { masterPort: master_port }),
  };
  return {
    strategy,
    processesPerNode: nproc_per_node,
    nodes: nnodes,
    ...(nnodes === 1 ? {} : { ...master, joinSeconds: join_seconds }),
  };
}

/** Rejects with ENGINE_NOT_SET_UP before anything is started when the engine would have to be started and is not installed. */
export async function assertEngineInstalled(config: ResolvedConfig, plugins: PluginHost): Promise<void> {
  if (config.engine.address !== undefined) return;
  const installation = await (await plugins.engine(config.engine.provider)).locate();
  if (installation === undefined)
    throw new MrlmError("ENGINE_NOT_SET_UP", `The engine "${config.engine.provider}" is not set up on this machine.`);
}
