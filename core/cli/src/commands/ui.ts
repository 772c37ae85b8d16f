import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import { serveUi } from "@mrlm/ui";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import type { UiOptions } from "../declarations/ui.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { serverAccess } from "../services/server-access.ts";

/** Directory of runs by default: that of `output.directory`. */
const RUNS = "runs";

/** Serves the page of runs until it is interrupted. */
export async function ui(
  { console, directory }: CommandContext,
  paths: readonly string[],
  args: UiOptions,
): Promise<void> {
  const { metrics = [] } = args;
  const hasRuns = existsSync(join(directory, RUNS));
  // Servers can be shown where nothing was trained.
  const directories = paths.length > 0 ? paths : hasRuns ? [join(directory, RUNS)] : [];
  if (directories.length === 0 && metrics.length === 0)
    throw new MrlmError("RUN_NOT_FOUND", `There is no folder ${RUNS} in ${directory}.`, {
      hint: "Name a run, a folder that holds runs, or the file of `mrlm eval --store`: mrlm ui FOLDER.",
    });
  const logger = lineLogger((line) => console.note(line));
  const { close: closeAccess, ...access } = serverAccess(args, logger);
  const interrupts = listenForInterrupts(console, "stopping");
  try {
    const host = isIPv6(args.host) ? `[${args.host}]` : args.host;
    const server = await serveUi({ directories, metrics, address: `${host}:${args.port}`, logger, ...access });
    const url = `${access.tls === undefined ? "http" : "https"}://${host}:${server.port}/`;
    console.print(`showing ${[...directories, ...metrics].join(", ")} on ${url}`);
    console.emit({ event: "listening", url, pid: process.pid });
    if (args.open === true) openInBrowser(url, (reason) => console.note(`note: the browser was not opened: ${reason}`));
    await new Promise<void>((resolve) => {
      if (interrupts.drain.aborted) resolve();
      else interrupts.drain.addEventListener("abort", () => resolve(), { once: true });
    });
    await server.close();
  } finally {
    interrupts.dispose();
    closeAccess();
  }
}

/** Opens an address by the program of the system. */
function openInBrowser(url: string, onFault: (reason: string) => void): void {
  const [command, ...before] =
    process.platform === "darwin" ? ["open"] : process.platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  spawn(command as string, [...before, url], { stdio: "ignore", detached: true })
    .once("error", ({ message }) => onFault(message))
    .unref();
}
