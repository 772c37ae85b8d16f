import { isIPv6 } from "node:net";
import { MrlmError } from "@mrlm/spec";
import { servePolicies } from "@mrlm/policy-server";
import type { CommandContext } from "../command-context.ts";
import { lineLogger } from "../console/line-logger.ts";
import { flagOf } from "../declarations/flag-groups.ts";
import type { ServeOptions } from "../declarations/serve.ts";
import { listenForInterrupts } from "../interrupts.ts";
import { livePolicies, startedPolicies } from "../services/served-policies.ts";
import { serverAccess } from "../services/server-access.ts";
import { modelFetcher } from "../services/stored-models.ts";

/** Port by default. */
const PORT = 8_000;
/** Milliseconds for the responses under way after a request to end. */
const DRAIN_MS = 10_000;

/** Options of a server of policies. The others concern environments alone. */
const OF_POLICIES: readonly string[] = [
  "model",
  "policy",
  "engine",
  "engineTokenFile",
  "config",
  "set",
  "port",
  "host",
  "tokenFile",
  "tokenGraceSeconds",
  "tlsCert",
  "tlsKey",
  "tlsClientCa",
  "insecure",
  "untilStdinEnds",
  "json",
] satisfies (keyof ServeOptions | "json")[];

/** Serves policies over the API of OpenAI until it is interrupted. */
export async function servePolicyModels(context: CommandContext, options: ServeOptions): Promise<void> {
  const { console, directory } = context;
  const foreign = Object.keys(options).find((name) => !OF_POLICIES.includes(name));
  if (foreign !== undefined)
    throw new MrlmError("USAGE", `${flagOf(foreign)} is for environments, and --model and --engine serve policies.`, {
      hint: "Start two servers.",
    });
  const { model, engine } = options;
  if (model !== undefined && engine !== undefined)
    throw new MrlmError("USAGE", "--model starts an engine, and --engine names a live one: give one of them.");
  if (engine === undefined && options.engineTokenFile !== undefined)
    throw new MrlmError("USAGE", "--engine-token-file is for the engine of --engine.");
  if (engine !== undefined && (options.config ?? options.set) !== undefined)
    throw new MrlmError("USAGE", "--config and --set are for the engine that --model starts.");
  const logger = lineLogger((line) => console.note(line));
  const { close: closeAccess, ...access } = serverAccess(options, logger);
  const interrupts = listenForInterrupts(console, "finishing the responses under way");
  try {
    const note = (line: string): void => console.note(line);
    const shared = { directory, fetch: modelFetcher(context), logger, note, signal: interrupts.drain };
    const { policies, close } =
      engine === undefined
        ? await startedPolicies({ ...options, model: model as string }, shared)
        : await livePolicies(engine, options.engineTokenFile);
    try {
      const at = isIPv6(options.host) ? `[${options.host}]` : options.host;
      const server = await servePolicies({ policies, address: `${at}:${options.port ?? PORT}`, logger, ...access });
      const address = `${at}:${server.port}`;
      const models = policies.map(({ id }) => id);
      const scheme = access.tls === undefined ? "http" : "https";
      console.print(`serving ${models.join(", ")} on ${scheme}://${address}/v1`);
      console.emit({ event: "listening", address, pid: process.pid, models });
      await aborted(interrupts.drain);
      await server.close(DRAIN_MS);
    } finally {
      await close();
    }
  } finally {
    interrupts.dispose();
    closeAccess();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
