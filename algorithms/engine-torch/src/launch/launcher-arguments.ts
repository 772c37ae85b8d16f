import type { DistributedOptions } from "@mrlm/spec";

/** Of the launcher of ranks: which machine this is, and where machine 0 is; the engine's own arguments follow. */
export function launcherArguments(
  { strategy, processesPerNode, nodes, masterAddress, masterPort, joinSeconds }: DistributedOptions,
  nodeRank = 0,
): string[] {
  const flags = {
    "nproc-per-node": processesPerNode,
    nnodes: nodes,
    "node-rank": nodeRank,
    "master-addr": masterAddress,
    "master-port": masterPort,
    "join-seconds": joinSeconds,
  };
  return ["-m", "mrlm_engine.launcher.launch", ...flagArguments(flags), "--", "--strategy", strategy];
}

/** `--name value` of each that has a value. */
export function flagArguments(flags: Readonly<Record<string, string | number | undefined>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
}
