import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { SessionTable } from "@mrlm/server/sessions";
import { serveDialects } from "../../src/index.ts";
import type { DialectServer, ServeDialectsOptions } from "../../src/serve-dialects.ts";
import { sumsPlugin, Watch } from "./sums-plugin.ts";

/** Running server of a test, with what is behind it. */
export interface Served {
  readonly server: DialectServer;
  readonly host: LocalHost;
  readonly sessions: SessionTable;
  readonly watch: Watch;
  readonly logged: string[];
  /** Number of renewals of leases so far. */
  renewals(): number;
  url(path?: string): URL;
  close(): Promise<void>;
}

/** Serves the environments of {@link sumsPlugin} on a free port. */
export async function served(
  options: Partial<ServeDialectsOptions> = {},
  offered?: readonly string[],
): Promise<Served> {
  const watch = new Watch();
  const logged: string[] = [];
  const log = (message: string, fields?: object): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const logger = { debug: log, info: log, warn: log, error: log };
  const plugins = await PluginHost.of([sumsPlugin(watch)]);
  const ids = offered ?? plugins.environments();
  const host = new LocalHost({ source: { ...sourceOf(plugins), environments: () => ids }, logger });
  const sessions = new SessionTable(host, options, logger);
  let renewals = 0;
  const renew = sessions.renew.bind(sessions);
  sessions.renew = (...request) => {
    renewals++;
    return renew(...request);
  };
  const server = await serveDialects({ host, sessions, address: "127.0.0.1:0", dialects: ["mcp"], logger, ...options });
  return {
    server,
    host,
    sessions,
    watch,
    logged,
    renewals: () => renewals,
    url: (path = "/sums@1/mcp") => new URL(`http://127.0.0.1:${server.port}${path}`),
    async close() {
      await server.close();
      await host.close();
    },
  };
}

function sourceOf(plugins: PluginHost) {
  return {
    environment: plugins.environment.bind(plugins),
    packageOf: plugins.packageOf.bind(plugins),
    service: plugins.service.bind(plugins),
    close: plugins.close.bind(plugins),
  };
}

/** Official client, connected. */
export interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** Number of `tools/list_changed` so far. */
  changes(): number;
  /** Ends the session on the server, then the connection. */
  end(): Promise<void>;
}

/** Connects the official client. */
export async function connect(
  url: URL,
  headers: Record<string, string> = {},
  mode: "legacy" | "auto" = "legacy",
): Promise<Connected> {
  let changes = 0;
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  client.setNotificationHandler("notifications/tools/list_changed", () => void changes++);
  const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
  await client.connect(transport);
  return {
    client,
    transport,
    changes: () => changes,
    async end() {
      await transport.terminateSession();
      await client.close();
    },
  };
}

/** Returns the text of the result of a tool call. */
export function textOf(result: unknown): string {
  const { content } = result as { content: readonly { type: string; text?: string }[] };
  return content.map((block) => block.text ?? `<${block.type}>`).join("\n");
}

/** Returns the facts for programs in the result of a tool call. */
export function factsOf(result: object): unknown {
  return (result as Readonly<Record<string, unknown>>)["_meta"];
}

/** Waits until a condition holds. A test that fails ends before this gives up. */
export async function until(condition: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`This did not become true: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5).unref());
  }
}
