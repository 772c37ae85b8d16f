import { Mrlm } from "../../e2e/support/mrlm.ts";

/** One `mrlm serve` process with `math@2`, `tools@2` and `code@2`, in all dialects. */
export interface ServedEnvironments {
  /** Port of all environments. */
  readonly url: string;
  /** Port of each environment by its id. */
  readonly byEnvironment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const NAMES = ["math", "tools", "code"];

/** Starts the server on free ports. */
export async function servedEnvironments(): Promise<ServedEnvironments> {
  const server = new Mrlm([
    ...["serve", "--environments", NAMES.join(","), "--port", "0", "--json"],
    ...["0", ...NAMES.map((name) => `${name}=0`)].flatMap((port) => ["--http-port", port]),
  ]);
  const { http, httpByEnvironment } = await server.event(({ event }) => event === "listening");
  return {
    url: `http://${http as string}`,
    byEnvironment: Object.fromEntries(
      Object.entries(httpByEnvironment as Record<string, string>).map(([id, address]) => [id, `http://${address}`]),
    ),
    async close() {
      server.child.kill("SIGTERM");
      await server.finished;
    },
  };
}
