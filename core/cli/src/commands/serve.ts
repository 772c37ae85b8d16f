import { LocalHost, loadConfig, PluginHost } from "@mrlm/runtime";
import { serveEnvironments } from "@mrlm/server";
import { MrlmError } from "@mrlm/spec";
import type { CommandModule } from "../command.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { requireJails } from "../services/sandboxes.ts";
import { selectedEnvironments } from "../services/selected-environments.ts";
import { tokenOption } from "../services/token.ts";

interface ServeOptions {
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

/** `mrlm serve`: hosts environments over gRPC. */
export const serveCommand: CommandModule = (program, start) => {
  program
    .command("serve")
    .description("host environments as a gRPC server")
    .option("--environments <names>", "comma-separated, for example math,code; default: all that are installed")
    .option("--port <port>", "0 for any free one", "50051")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--config <path>", "configuration whose plugins and their options are used")
    .option("--token-file <path>", "file with a token that every call must carry, health checks excepted")
    .option("--data-root <folder>", "options of clients may name files below it; default: the working directory")
    .option("--any-data", "options may name any file of this machine (for a parent process of the same user)")
    .option("--unsafe-sandbox", "serve others even where no operating-system jail holds what a model wrote")
    .option("--until-stdin-ends", "end when standard input does (for a parent process)")
    .action(async (options: ServeOptions) => {
      const { console, directory } = start();
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
    });
};

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

function ended(signal: AbortSignal, withStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
    if (withStdin) process.stdin.on("end", resolve).on("error", () => resolve()).resume();
  });
}
