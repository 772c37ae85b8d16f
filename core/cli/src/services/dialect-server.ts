import type { ServerTls, Tokens } from "@mrlm/kit/access";
import type { SessionTable } from "@mrlm/server/sessions";
import type { ClientSandbox } from "@mrlm/dialects";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import type { ServeOptions } from "../declarations/serve.ts";

/** Parts of `mrlm serve` that its servers share. */
interface SharedServices {
  readonly host: EnvironmentHost;
  readonly sessions: SessionTable;
  readonly sandboxes: Readonly<Record<string, ClientSandbox>>;
  readonly logger: Logger;
  readonly tokens?: Tokens;
  readonly tls?: ServerTls;
}

/** HTTP servers of `mrlm serve` that have not been started. */
interface DialectServers {
  /** Whether clients may run programs in sandboxes: by `--dialects`, or by default. */
  readonly runsCode: "named" | "default" | undefined;
  /** Starts the servers on an address of this machine. */
  start(at: string, shared: SharedServices): Promise<StartedDialects>;
}

/** Running HTTP servers of `mrlm serve`. */
interface StartedDialects {
  /** Lines for people: where clients of each dialect connect. */
  readonly lines: readonly string[];
  /** Fields of the event `listening`. `http` is the address of the first port, `httpByEnvironment` that of each environment with a port of its own. */
  readonly event: {
    readonly http: string;
    readonly httpByEnvironment: Readonly<Record<string, string>>;
    readonly dialects: string[];
  };
  close(graceMs: number): Promise<void>;
}

/** Checks the options; `undefined` without --http-port, when the packages of the servers are not loaded. Rejects with USAGE. */
export async function dialectServers(options: Partial<ServeOptions>): Promise<DialectServers | undefined> {
  const { httpPort = [], revealRewards = false } = options;
  if (httpPort.length === 0) {
    const given = [
      ["--dialects", options.dialects !== undefined],
      ["--reveal-rewards", revealRewards],
      ["--nemo-gym-unscored", options.nemoGymUnscored !== undefined],
    ] as const;
    const flag = given.find(([, isGiven]) => isGiven)?.[0];
    if (flag !== undefined) throw new MrlmError("USAGE", `${flag} is for clients over HTTP: give --http-port too.`);
    return undefined;
  }
  const answers = { revealRewards, unscoredIsError: options.nemoGymUnscored === "error" };
  const { DIALECT_NAMES, environmentIn, serveDialects } = await import("@mrlm/dialects");
  const names = options.dialects ?? DIALECT_NAMES;
  const known = DIALECT_NAMES.filter((name) => names.includes(name));
  const unknown = names.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined)
    throw new MrlmError("USAGE", `--dialects ${unknown} is not a dialect; there is ${DIALECT_NAMES.join(", ")}.`);
  const isNamed = options.dialects !== undefined;
  return {
    runsCode: known.includes("sandbox-fusion") ? (isNamed ? "named" : "default") : undefined,
    async start(at, shared) {
      // By default a server without sandboxes has no route that would refuse every program.
      const hasSandboxes = Object.keys(shared.sandboxes).length > 0;
      const dialects = known.filter((name) => name !== "sandbox-fusion" || isNamed || hasSandboxes);
      const offered = (await shared.host.list()).map(({ id }) => id);
      const resolved = httpPort.map(({ environment: name, port }) => {
        const environment = name === undefined ? undefined : environmentIn(offered, name);
        if (name === undefined || environment !== undefined) return { environment, port };
        throw new MrlmError(
          "USAGE",
          `--http-port ${name}=${port} names no environment of this server; there is ${offered.join(", ")}.`,
        );
      });
      const started: { server: Awaited<ReturnType<typeof serveDialects>>; environment: string | undefined }[] = [];
      const close = async (graceMs: number): Promise<void> => {
        await Promise.all(started.map(({ server }) => server.close(graceMs)));
      };
      try {
        for (const { environment, port } of resolved) {
          const environments = environment === undefined ? offered : [environment];
          const address = `${at}:${port}`;
          const server = await serveDialects({ ...shared, address, dialects, environments, ...answers });
          started.push({ server, environment });
        }
      } catch (error) {
        await close(0);
        throw error;
      }
      const scheme = shared.tls === undefined ? "http" : "https";
      const addresses = started.map(({ server }) => `${at}:${server.port}`);
      return {
        lines: started.flatMap(({ server, environment }, i) =>
          server.urls.map(
            ({ dialect, path }) =>
              `serving ${dialect}${environment === undefined ? "" : ` of ${environment}`} on ${scheme}://${addresses[i]}${path}`,
          ),
        ),
        event: {
          http: addresses[0] ?? "",
          httpByEnvironment: Object.fromEntries(
            started.flatMap(({ environment }, i) =>
              environment === undefined ? [] : [[environment, addresses[i] ?? ""]],
            ),
          ),
          dialects,
        },
        close,
      };
    },
  };
}
