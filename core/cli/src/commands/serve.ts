import { LocalHost, loadConfig, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { requireJails } from "../services/sandboxes.ts";
import { selectedEnvironments } from "../services/selected-environments.ts";
import { tokenOption } from "../services/token.ts";

/** What the command line says. */
export interface ServeOptions {
  readonly environments?: string;
  readonly port: string;
  readonly host: string;
  readonly config?: string;
  readonly tokenFile?: string;
  readonly untilStdinEnds?: boolean;
  readonly unsafeSandbox?: boolean;
  readonly dataRoot?: string;
  readonly anyData?: boolean;
}

/** Milliseconds that episodes under way get when the server is asked to end. */
const DRAIN_MS = 10_000;

/** Serves until it is interrupted, or its standard input ends. */
export async function serve({ console, directory }: CommandContext, options: ServeOptions): Promise<void> {
  const port = Number(options.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new MrlmError("USAGE", `--port ${options.port} is no port: it is a number from 0 to 65535.`);
  const token = tokenOption(options.tokenFile);
  const config = options.config === undefined ? undefined : loadConfig(options.config).config;
  const plugins = await PluginHost.discover({ directory, ...(config === undefined ? {} : { plugins: config.plugins, relativeTo: config.base_directory }) });
  const source = await selectedEnvironments(plugins, options.environments?.split(","));
  const host = new LocalHost({ source, ...(options.anyData === true ? {} : { dataRoot: options.dataRoot ?? directory }) });
  const offered = await host.list();
  if (!isLoopback(options.host) && options.unsafeSandbox !== true) await requireJails(plugins, offered.map(({ id }) => id));
  const server = await serveEnvironments({ host, address: `${options.host}:${port}`, ...token });
  const interrupts = listenForInterrupts(console, "finishing the calls under way");
  const address = `${options.host}:${server.port}`;
  console.print(`serving ${offered.map(({ id }) => id).join(", ")} on ${address}`);
  console.emit({ event: "listening", address, pid: process.pid, environments: offered.map(({ id }) => id) });
  await ended(interrupts.drain, options.untilStdinEnds === true);
  await server.close(DRAIN_MS);
  await host.close();
  interrupts.dispose();
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

function ended(signal: AbortSignal, withStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (withStdin) process.stdin.on("end", resolve).on("error", () => resolve()).resume();
  });
}
