import { spawn } from "node:child_process";
import { type EngineProvider, type JoinedRanks, MrlmError } from "@mrlm/spec";
import { locateEngine } from "../setup/locate-engine.ts";
import { followChild } from "./engine-child.ts";
import { engineEnvironment } from "./engine-environment.ts";
import { launcherArguments } from "./launcher-arguments.ts";

/** Which engine to join, and as what. */
export type JoinOptions = Parameters<EngineProvider["join"]>[0] & {
  /** Options of the setup whose environment to use. */
  readonly setup?: Readonly<Record<string, unknown>>;
};

/** Milliseconds between SIGTERM and SIGKILL. */
const GRACE_MS = 10_000;

/**
 * Starts what runs this machine's ranks, once machine 0 says that all are there. It ends with the engine, when asked to, and when this process has gone.
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
  const child = spawn(executable, [...launcherArguments(distributed, nodeRank)], {
    env: engineEnvironment(),
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  const said = {
    file: undefined,
    write: (line: string) => log?.(line),
    record: () => undefined,
    tail: () => "",
    close: () => undefined,
  };
  const { exited, stop } = followChild(child, said, GRACE_MS, (message) => {
    if ("notice" in message) notice?.(message.notice);
    else if ("joined" in message) started?.();
  });
  // With the run it ends well, though not because we asked.
  return { exited: exited.then(({ code, cause }) => (code === 0 || cause === undefined ? {} : { cause })), stop };
}
