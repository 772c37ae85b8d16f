import { once } from "node:events";
import { isIPv6 } from "node:net";
import { resolve } from "node:path";
import { processName } from "@mrlm/runtime";
import { serveStore as serve } from "@mrlm/server";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { shownPath } from "../console/shown-path.ts";
import type { StoreServeOptions } from "../declarations/store.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { serverAccess } from "../services/server-access.ts";
import { ServedStore } from "../services/served-store.ts";
import { announceStoreToken, makeStoreToken } from "../services/store-token.ts";

/** Time for the calls under way when the server stops, in milliseconds. */
const GRACE_MS = 2_000;

/** Serves the store of a run until it is interrupted. */
export async function serveStore({ console }: CommandContext, args: StoreServeOptions): Promise<void> {
  const logger = lineLogger((line) => console.note(line));
  const source = new ServedStore(args.run, logger);
  const { tokenFile = source.tokenPath } = args;
  if (args.tokenFile === undefined) makeStoreToken(tokenFile);
  const { close: closeAccess, ...access } = serverAccess({ ...args, tokenFile }, logger);
  const interrupts = listenForInterrupts(console, "stopping: workers wait for another server");
  let withdraw: (() => void) | undefined;
  try {
    const at = isIPv6(args.host) ? `[${args.host}]` : args.host;
    const server = await serve({ source, address: `${at}:${args.port}`, logger, ...access });
    const address = `${at}:${server.port}`;
    source.join(processName(), address);
    withdraw = announceStoreToken(address, resolve(tokenFile));
    console.print(`serving the store of ${source.path} on ${address}`);
    if (args.tokenFile === undefined) console.print(`its token is in ${shownPath(tokenFile)}`);
    console.emit({ event: "listening", address, pid: process.pid, path: source.path, token_file: tokenFile });
    if (!interrupts.drain.aborted) await once(interrupts.drain, "abort");
    await server.close(GRACE_MS);
  } finally {
    withdraw?.();
    interrupts.dispose();
    closeAccess();
    await source.close();
  }
}
