import type { ServerTls, Tokens } from "@mrlm/kit/access";
import type { SessionTable } from "@mrlm/server/sessions";
import { type EnvironmentHost, type Logger, MrlmError } from "@mrlm/spec";
import { portNumber } from "../arguments.ts";

/** Options of `mrlm serve` that concern HTTP. */
interface DialectOptions {
  readonly httpPort?: string;
  readonly dialects?: string;
  readonly revealRewards?: boolean;
}

/** Parts of `mrlm serve` that its servers share. */
interface SharedServices {
  readonly host: EnvironmentHost;
  readonly sessions: SessionTable;
  readonly logger: Logger;
  readonly tokens?: Tokens;
  readonly tls?: ServerTls;
}

/** Running HTTP server of `mrlm serve`. */
interface StartedDialects {
  /** Lines for people: where clients of each dialect connect. */
  readonly lines: readonly string[];
  /** Fields of the event `listening`. */
  readonly event: { readonly http: string; readonly dialects: string[] };
  close(graceMs: number): Promise<void>;
}

/**
 * Checks the options, and returns a function that starts the HTTP server on an address of this machine; `undefined` without --http-port, when its
 * packages are not loaded. Rejects with USAGE.
 */
export async function dialectServer(
  options: DialectOptions,
): Promise<((at: string, shared: SharedServices) => Promise<StartedDialects>) | undefined> {
  const { httpPort, revealRewards = false } = options;
  if (httpPort === undefined) {
    const flag = options.dialects !== undefined ? "--dialects" : revealRewards ? "--reveal-rewards" : undefined;
    if (flag !== undefined) throw new MrlmError("USAGE", `${flag} is for clients over HTTP: give --http-port too.`);
    return undefined;
  }
  const port = portNumber(httpPort, "--http-port");
  const { DIALECT_NAMES, serveDialects } = await import("@mrlm/dialects");
  const names = options.dialects?.split(",").map((name) => name.trim()) ?? DIALECT_NAMES;
  const dialects = DIALECT_NAMES.filter((name) => names.includes(name));
  const unknown = names.find((name) => !dialects.some((known) => known === name));
  if (unknown !== undefined)
    throw new MrlmError("USAGE", `--dialects ${unknown} is not a dialect; there is ${DIALECT_NAMES.join(", ")}.`);
  return async (at, shared) => {
    const server = await serveDialects({ ...shared, address: `${at}:${port}`, dialects, revealRewards });
    const http = `${at}:${server.port}`;
    const scheme = shared.tls === undefined ? "http" : "https";
    return {
      lines: server.urls.map(({ dialect, path }) => `serving ${dialect} on ${scheme}://${http}${path}`),
      event: { http, dialects },
      close: (graceMs) => server.close(graceMs),
    };
  };
}
