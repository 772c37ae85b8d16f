import { setTimeout } from "node:timers/promises";
import { hostname } from "node:os";
import { rmSync } from "node:fs";
import { configuredPlugins, loadConfig, PluginHost, processName, RunDirectory, stateOfRun } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { wholeNumber } from "../arguments.ts";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { samplerLaunch } from "../services/samplers.ts";

/** Options of `mrlm sample`. */
export interface SampleArguments {
  readonly run: string;
  readonly device?: string;
  readonly gpu?: string;
  readonly threads?: string;
  readonly name?: string;
}

/** Time between two looks for the end of the run, in milliseconds. */
const LOOK_MS = 500;
const DEVICES = ["auto", "cpu", "cuda"] as const;

/** Samples for a run that another process trains, until the run has ended. Returns the exit code. */
export async function sample({ console, directory }: CommandContext, args: SampleArguments): Promise<number> {
  const notice = (text: string): void => console.note(`note: ${text}`);
  const run = RunDirectory.open(args.run);
  const loaded = loadConfig(run.configPath);
  const { name = processName() } = args;
  if (!/^[\w.-]+$/.test(name))
    throw new MrlmError("USAGE", `--name ${name}: letters, digits, dots, hyphens and underscores only.`);
  const device = DEVICES.find((each) => each === (args.device ?? loaded.config.engine.device));
  if (device === undefined)
    throw new MrlmError("USAGE", `--device is ${args.device}, and not one of ${DEVICES.join(", ")}.`);
  const options = {
    ...samplerLaunch(loaded.config),
    device,
    ...(args.gpu === undefined ? {} : { gpu: wholeNumber(args.gpu, "--gpu", 0) }),
    ...(args.threads === undefined ? {} : { threads: wholeNumber(args.threads, "--threads", 1) }),
  };
  const interrupts = listenForInterrupts(
    console,
    "stopping: other samplers draw the sequences that are under way here",
  );
  const plugins = await PluginHost.discover({ directory, logger: lineLogger(notice), ...configuredPlugins(loaded) });
  try {
    const provider = await plugins.engine(loaded.config.engine.provider);
    if ((await provider.locate()) === undefined)
      throw new MrlmError(
        "ENGINE_NOT_SET_UP",
        `The engine "${loaded.config.engine.provider}" is not set up on this machine.`,
      );
    console.note("starting a sampler (loading torch)");
    const launched = await provider.launch({
      ...options,
      logDirectory: run.samplerLogs(name),
      notice,
      signal: interrupts.drain,
    });
    const { address, token, pid } = launched;
    const file = run.writeSampler({ name, address, token, pid: process.pid, host: hostname() });
    try {
      console.note(`${name} samples for ${run.path} on ${launched.device}`);
      console.emit({ event: "sampling", name, run: run.path, address, pid });
      const ended = new AbortController();
      void launched.exited.then(({ cause }) =>
        ended.abort(cause ?? new MrlmError("ENGINE_EXITED", "The process of the sampler ended.")),
      );
      const either = AbortSignal.any([interrupts.drain, ended.signal]);
      while (!either.aborted && !stateOfRun(run).hasEnded)
        await setTimeout(LOOK_MS, undefined, { signal: either }).catch(() => undefined);
      if (ended.signal.aborted) throw ended.signal.reason;
    } finally {
      rmSync(file, { force: true });
      await launched.stop();
    }
    return interrupts.drain.aborted ? EXIT.interrupted : EXIT.ok;
  } finally {
    interrupts.dispose();
    await plugins.close();
  }
}
