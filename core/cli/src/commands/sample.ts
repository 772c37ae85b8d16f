import { setTimeout } from "node:timers/promises";
import { hostname } from "node:os";
import { rmSync } from "node:fs";
import { configuredPlugins, loadConfig, PluginHost, processName, RunDirectory } from "@mrlm/runtime";
import { statusOfRun } from "../services/run-status.ts";
import { defined, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { lineLogger, withLevel } from "../console/line-logger.ts";
import type { SampleOptions } from "../declarations/sample.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { engineAddresses, engineNotice, reachable, type ReachEngines } from "../services/reachable-engines.ts";
import { samplerAddress } from "../services/sampler-address.ts";
import { startEngineSampler, startServerSampler } from "../services/sampler-process.ts";
import { promisesBits, samplerLaunch } from "../services/samplers.ts";
import { waitingNotice } from "../services/waiting-notice.ts";

/** Time between two looks for the end of the run, in milliseconds. */
const LOOK_MS = 500;

/** Samples for a run that another process trains, until the run has ended. Returns the exit code. */
export async function sample({ console, directory }: CommandContext, args: SampleOptions): Promise<number> {
  const notice = (text: string): void => console.note(withLevel(text));
  const run = RunDirectory.open(args.run);
  const loaded = loadConfig(run.configPath);
  const { name = processName() } = args;
  if (args.plugin === undefined && [args.url, args.options, args.probeLimit].some((flag) => flag !== undefined))
    throw new MrlmError(
      "USAGE",
      "--url, --options and --probe-limit are for a server that a plugin samples with: give --plugin NAME too.",
    );
  if (args.plugin !== undefined && promisesBits(loaded.config))
    throw new MrlmError(
      "SAMPLER_DIFFERS",
      `The run samples in mode "${loaded.config.play.mode}" with engine.mode: ${loaded.config.engine.mode}, which promises the bits of the engine, and a server of another project draws others.`,
      { hint: "Train with engine.mode: throughput, or with play.mode: async." },
    );
  const { device = loaded.config.engine.device, gpu, threads } = args;
  const options = {
    ...samplerLaunch(loaded.config),
    device,
    ...defined({ gpu, threads }),
  };
  const engines = engineAddresses(args.engine ?? [], loaded.config);
  if (statusOfRun(run).hasEnded) {
    notice(`${run.path} has finished`);
    return EXIT.ok;
  }
  const place = samplerAddress(args, lineLogger(notice));
  const reach: ReachEngines = (places) => reachable(places, place.host, engines);
  const lookAtEngines = engineNotice(reach, notice);
  const isNear = [args.host, args.port, args.engine].every((flag) => flag === undefined);
  const interrupts = listenForInterrupts(
    console,
    "stopping: other samplers draw the sequences that are under way here",
  );
  const plugins = await PluginHost.discover({ directory, logger: lineLogger(notice), ...configuredPlugins(loaded) });
  try {
    if (!isNear) await lookAtEngines(statusOfRun(run).training);
    const parts = { config: loaded.config, plugins, run, name, notice, reach, signal: interrupts.drain };
    const { plugin } = args;
    const started =
      plugin === undefined
        ? await startEngineSampler(parts, options)
        : await startServerSampler(parts, { plugin, ...serverOf(args) });
    const { token, pid, device: found, ended } = started;
    let file: string | undefined;
    try {
      const { address, ...security } = await place.offer(started.address);
      const addresses = engines.size === 0 ? {} : { engines: Object.fromEntries(engines) };
      file = run.writeSampler({
        ...{ name, address, token, pid: process.pid, host: hostname() },
        ...security,
        ...addresses,
      });
      console.note(`${name} samples for ${run.path} on ${found}`);
      console.emit({ event: "sampling", name, run: run.path, address, pid });
      const either = AbortSignal.any([interrupts.drain, ended]);
      const waiting = waitingNotice(run.path, notice);
      for (let state = statusOfRun(run); !either.aborted && !state.hasEnded; state = statusOfRun(run)) {
        waiting(state.isLocked);
        if (!isNear) await lookAtEngines(state.training);
        await setTimeout(LOOK_MS, undefined, { signal: either }).catch(() => undefined);
      }
      if (ended.aborted) throw ended.reason;
      if (!either.aborted) notice(`${run.path} has finished`);
    } finally {
      if (file !== undefined) rmSync(file, { force: true });
      await started.stop();
    }
    return interrupts.drain.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupts.dispose();
    await place.close();
    await plugins.close();
  }
}

/** Returns the server of a sampler plugin. Throws USAGE for flags that are not for it. */
function serverOf({ url, options, probeLimit, device, gpu, threads }: SampleOptions) {
  if (url === undefined) throw new MrlmError("USAGE", "--plugin needs the address of its server: --url URL.");
  if (device !== undefined || gpu !== undefined || threads !== undefined)
    throw new MrlmError(
      "USAGE",
      "--device, --gpu and --threads are for a sampler without --plugin: the server has its own.",
    );
  return { url, options: options ?? {}, probeLimit };
}
