import type { EngineProvider, JoinedRanks } from "@mrlm/spec/host";
import { MrlmError } from "@mrlm/spec";
import { locateEngine } from "../setup/locate-engine.ts";
import { startEngineChild } from "./engine-child.ts";
import { engineEnvironment } from "./engine-environment.ts";
import { launcherArguments } from "./launcher-arguments.ts";

/** The engine to join, and the number of this machine. */
export type JoinOptions = Parameters<EngineProvider["join"]>[0] & {
  /** Options of the setup that made the environment. */
  readonly setup?: Readonly<Record<string, unknown>>;
};

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 10_000;

/**
 * Starts the launcher, which starts the ranks of this machine after all machines have joined. The launcher exits with the engine, after `stop`, and when this
 * process exits.
 *
 * @throws ENGINE_NOT_SET_UP. `exited` has JOIN_REFUSED, JOIN_TIMEOUT or ENGINE_EXITED as its cause.
 */
export async function joinEngine({
  distributed,
  nodeRank,
  notice,
  started,
  log,
  setup,
}: JoinOptions): Promise<JoinedRanks> {
  const executable = (await locateEngine({ ...(setup && { options: setup }) }))?.executable;
  if (executable === undefined)
    throw new MrlmError("ENGINE_NOT_SET_UP", "The engine's Python environment is not installed.");
  const command = {
    command: executable,
    args: launcherArguments(distributed, nodeRank),
    env: engineEnvironment(),
  };
  const engineLog = {
    file: undefined,
    write: (line: string) => log?.(line),
    record: () => undefined,
    tail: () => "",
    close: () => undefined,
  };
  const { exited, stop } = startEngineChild(command, engineLog, GRACE_MS, (message) => {
    if ("notice" in message) notice?.(message.notice);
    else if ("joined" in message) started?.();
  });
  // At the end of the run it exits without an error, although `stop` was not called.
  return { exited: exited.then(({ code, cause }) => (code === 0 || cause === undefined ? {} : { cause })), stop };
}
