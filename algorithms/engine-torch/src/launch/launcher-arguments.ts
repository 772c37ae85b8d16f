import type { DistributedOptions } from "@mrlm/spec/host";

/** Returns the arguments of the launcher of ranks: the number of this machine and the address of machine 0. The arguments of the engine follow. */
export function launcherArguments(
  { strategy, parallel, processesPerNode, nodes, masterAddress, masterPort, joinSeconds }: DistributedOptions,
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
  const engine = { strategy, parallel: parallel && `${parallel.data},${parallel.context},${parallel.tensor}` };
  return ["-m", "mrlm_engine.launcher.launch", ...flagArguments(flags), "--", ...flagArguments(engine)];
}

/** Returns `--name value` for each option that has a value. */
export function flagArguments(flags: Readonly<Record<string, string | number | undefined>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
}
