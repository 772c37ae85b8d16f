import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { connectEngine } from "@mrlm/client";
import { Tokens } from "@mrlm/kit/access";
import { randomToken } from "@mrlm/process";
import {
  openSamplerSource,
  type PluginHost,
  ProvedSampler,
  type ResolvedConfig,
  type RunDirectory,
} from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import type { EngineProvider, ExternalSampler } from "@mrlm/spec/host";
import { serveSampler } from "@mrlm/server";
import { lineLogger } from "../console/line-logger.ts";
import type { SampleOptions } from "../declarations/sample.ts";
import type { ReachEngines } from "./reachable-engines.ts";

/** Time between two looks for a server, in milliseconds. */
const LOOK_MS = 1_000;

/** Sampler that a command has started, for the processes of a run. */
export interface StartedSampler {
  /** On loopback. */
  readonly address: string;
  readonly token: string;
  readonly device: string;
  readonly pid: number;
  /** Aborted, with the cause as its reason, when the sampler has ended by itself. */
  readonly ended: AbortSignal;
  stop(): Promise<void>;
}

/** Parts that each kind of sampler needs. */
export interface SamplerParts {
  readonly config: ResolvedConfig;
  readonly plugins: PluginHost;
  readonly run: RunDirectory;
  readonly name: string;
  readonly notice: (text: string) => void;
  readonly reach: ReachEngines;
  readonly signal: AbortSignal;
}

/** Starts an engine process that samples only. Rejects with ENGINE_NOT_SET_UP and as a launch does. */
export async function startEngineSampler(
  { config, plugins, run, name, notice, signal }: SamplerParts,
  options: Parameters<EngineProvider["launch"]>[0],
): Promise<StartedSampler> {
  const provider = await plugins.engine(config.engine.provider);
  if ((await provider.locate()) === undefined)
    throw new MrlmError("ENGINE_NOT_SET_UP", `The engine "${config.engine.provider}" is not set up on this machine.`);
  notice("starting a sampler (loading torch)");
  const launched = await provider.launch({ ...options, logDirectory: run.samplerLogs(name), notice, signal });
  const ended = new AbortController();
  void launched.exited.then(({ cause }) =>
    ended.abort(cause ?? new MrlmError("ENGINE_EXITED", "The process of the sampler ended.")),
  );
  const { address, token, device, pid } = launched;
  return { address, token, device, pid, ended: ended.signal, stop: () => launched.stop() };
}

/** Server that a plugin samples with. */
export interface SamplerServer extends Pick<SampleOptions, "probeLimit"> {
  readonly plugin: string;
  readonly url: string;
  readonly options: JsonObject;
}

/**
 * Connects to a server by a sampler plugin, and serves it as a sampler: it writes the weights of each version where the server reads them, and proves them by a
 * probe. Rejects as the plugin does.
 */
export async function startServerSampler(
  parts: SamplerParts,
  { plugin, url, options, probeLimit }: SamplerServer,
): Promise<StartedSampler> {
  const { run, name, notice } = parts;
  const directory = join(run.samplerLogs(name), "weights");
  const sampler = new ProvedSampler({
    sampler: await openServer(parts, { plugin, url, options }, directory),
    directory,
    ...defined({ probeLimit }),
    logger: lineLogger(notice),
    connect: ({ address, token }) => connectEngine(address, token === undefined ? {} : { token }),
  });
  try {
    const token = randomToken();
    const { port, close } = await serveSampler({ sampler, address: "127.0.0.1:0", tokens: Tokens.of(token) });
    const { device } = await sampler.describe();
    const stop = async (): Promise<void> => {
      await close();
      await sampler.close();
    };
    return { address: `127.0.0.1:${port}`, token, device, pid: process.pid, ended: new AbortController().signal, stop };
  } catch (error) {
    await sampler.close();
    throw error;
  }
}

/** Waits for the server. Until it answers, the weights with which it can be started are written beside those of later versions. */
async function openServer(
  { plugins, run, notice, reach, signal }: SamplerParts,
  { plugin, url, options }: SamplerServer,
  directory: string,
): Promise<ExternalSampler> {
  for (let isWritten = false; ;) {
    try {
      return await openSamplerSource(plugins, plugin, { url, options, signal });
    } catch (error) {
      if (!MrlmError.hasCode(error, "SAMPLER_UNAVAILABLE") || signal.aborted) throw error;
    }
    if (!isWritten) {
      const start = join(directory, "start");
      isWritten = await writeStart(run, reach, start);
      if (isWritten) notice(`${url} does not answer yet: start its server with the model ${start}`);
    }
    await setTimeout(LOOK_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new MrlmError("CANCELLED", "The sampler was stopped before its server answered.");
  }
}

/** Writes the published weights of the first policy. Returns false while no process trains the run. */
async function writeStart(run: RunDirectory, reach: ReachEngines, directory: string): Promise<boolean> {
  const found = run.readEngine();
  if (found === undefined) return false;
  const place = reach(found);
  try {
    const engine = await connectEngine(place.address, place.token === undefined ? {} : { token: place.token });
    try {
      const policy = (await engine.describe()).models.find(({ role }) => role === "policy");
      if (policy === undefined) return false;
      await engine.writeWeights(policy.model, directory, { untied: true });
      return true;
    } finally {
      await engine.close();
    }
  } catch (error) {
    // A killed training process leaves its file.
    if (MrlmError.isInstance(error) && error.code.startsWith("ENGINE_")) return false;
    throw error;
  }
}
