import { type LoadedConfig, loadConfig, configuredPlugins, PluginHost } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import type { DistributedOptions } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import type { JoinOptions } from "../declarations/join.ts";
import { EXIT } from "../exit-codes.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { assertEngineInstalled, distributedOptions } from "../services/engine.ts";

/** Runs the ranks of this machine until the run ends on any machine. Returns the exit code. */
export async function join(
  { console, directory }: CommandContext,
  { config: path, nodeRank }: JoinOptions,
): Promise<number> {
  const loaded = loadConfig(path);
  const { config } = loaded;
  const distributed = machinesOf(loaded, nodeRank);
  const plugins = await PluginHost.discover({
    directory,
    logger: lineLogger((line) => console.note(line)),
    ...configuredPlugins(loaded),
  });
  try {
    await assertEngineInstalled(config, plugins);
    const provider = await plugins.engine(config.engine.provider);
    let isTraining = false;
    // A job's SIGTERM reaches all machines at once. Machine 0 then finishes its iteration and needs this machine for it.
    const interrupts = listenForInterrupts(console, () =>
      isTraining ? "waiting for machine 0 to end the run: stop it there" : "leaving: training has not begun yet",
    );
    const ranks = await provider.join({
      distributed,
      nodeRank,
      notice: (line) => console.note(line),
      log: (line) => console.note(line),
      started() {
        isTraining = true;
        console.note("all machines have joined: starting the engine's ranks (loading torch)");
        console.emit({ event: "joined", node_rank: nodeRank, nodes: distributed.nodes });
      },
    });
    interrupts.drain.addEventListener("abort", () => void (isTraining || ranks.stop()));
    const { cause } = await ranks.exited;
    interrupts.dispose();
    if (cause !== undefined) throw MrlmError.hasCode(cause, "ENGINE_EXITED") ? withAdvice(cause) : cause;
    if (interrupts.drain.aborted) return EXIT.interrupted;
    console.print("the run has ended");
    console.emit({ event: "ended" });
    return EXIT.ok;
  } finally {
    await plugins.close();
  }
}

/** Returns the machines of the run. Throws CONFIG_INVALID or USAGE if this machine cannot join. */
function machinesOf(loaded: LoadedConfig, nodeRank: number): DistributedOptions {
  const { config, source } = loaded;
  const { nnodes, master_addr } = config.distributed;
  const place = source.locate(["distributed"], "key");
  if (config.engine.address !== undefined)
    throw new MrlmError(
      "CONFIG_INVALID",
      `${place}: there is nothing to join: the engine at ${config.engine.address} is already running.`,
    );
  const distributed = distributedOptions(config);
  if (distributed === undefined || nnodes === 1)
    throw new MrlmError("CONFIG_INVALID", `${place}: there is nothing to join: the run has one machine.`, {
      hint: "Set distributed.nnodes to the number of machines.",
    });
  if (master_addr === undefined)
    throw new MrlmError("CONFIG_INVALID", `${place}: without master_addr this machine cannot find machine 0.`, {
      hint: "Set distributed.master_addr to the address at which the other machines reach machine 0.",
    });
  if (nodeRank === 0)
    throw new MrlmError("USAGE", "--node-rank 0 is the machine that starts the run.", {
      hint: `There: npx mrlm train --config FILE. The others are 1 to ${nnodes - 1}.`,
    });
  if (nodeRank >= nnodes)
    throw new MrlmError(
      "USAGE",
      `--node-rank ${nodeRank} is too high: the machines of ${nnodes} that join are 1 to ${nnodes - 1}.`,
    );
  return distributed;
}

function withAdvice(cause: MrlmError): MrlmError {
  return new MrlmError(cause.code, cause.message, {
    hint: "Continue it: on machine 0 `npx mrlm train --resume RUN`, and here the same command again.",
    cause,
  });
}
