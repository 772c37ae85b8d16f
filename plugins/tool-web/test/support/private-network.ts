import type { LookupAddress } from "node:dns";
import type { IncomingMessage, ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import type { Resolve } from "../../src/network/resolve-name.ts";
import { type OpenTools, openTools, textOf } from "./open-tools.ts";
import { startHttp, type TestServer } from "./servers.ts";

/** Address of the server that requests may reach. It stands for a public server. */
export const PUBLIC = "127.0.0.2";
/** Text of the pages of private servers. */
export const SECRET = "text of a private server";
const REFUSALS = /is not accepted|may be reached/;

export interface AttemptOptions {
  /** Default: the refusals of URLs and addresses. */
  readonly expected?: RegExp | null;
  readonly tools?: OpenTools;
}

export interface Attempt {
  readonly isThrough: boolean;
  readonly text: string;
}

/** Servers on private addresses that count connections, and a server that stands for a public one and redirects to them. */
export interface PrivateNetwork {
  readonly port: number;
  readonly tools: OpenTools;
  /** Answers of the resolver by name. Each lookup takes the next answer; the last one stays. */
  readonly names: Record<string, string[][]>;
  readonly resolve: Resolve;
  /** Handlers of the public server, by path. */
  readonly paths: Record<string, (request: IncomingMessage, response: ServerResponse) => void>;
  /** Connections to private servers. */
  reached(): number;
  /**
   * Fetches a page. A connection to a private server, the text of one, or a result without the expected refusal is a success of the attacker. `expected`
   * null accepts every result, for pages that only mention a private server.
   */
  attempt(url: string, options?: AttemptOptions): Promise<Attempt>;
  /** Counts an attempt that was made in another way. */
  count(isThrough: boolean): void;
  readonly attempts: { all: number; through: number };
  close(): Promise<void>;
}

export async function startPrivateNetwork(): Promise<PrivateNetwork> {
  const names: PrivateNetwork["names"] = {
    "public.test": [[PUBLIC]],
    "loopback.test": [["127.0.0.1"]],
    "mapped.test": [["::ffff:127.0.0.1"]],
    "loopback6.test": [["::1"]],
    "metadata.test": [["169.254.169.254"]],
    "private.test": [["10.0.0.1"], ["192.168.0.1"]],
  };
  const resolve = resolverOf(names);
  const paths: PrivateNetwork["paths"] = {};
  const secret = (_request: unknown, response: { end(text: string): void }): void => response.end(SECRET);
  const secrets: TestServer[] = [await startHttp(secret)];
  const { port } = secrets[0] as TestServer;
  for (const host of ["::1", ...ownAddresses("IPv4")])
    await startHttp(secret, { host, port }).then(
      (one) => secrets.push(one),
      () => undefined,
    );
  const server = await startHttp((request, response) => answer(paths, request, response), { host: PUBLIC, port });
  const fetch = { live: true, ports: [80, 443, 1900, port] };
  const tools = await openTools({ fetch, allow: [`${PUBLIC}:${port}`] }, { resolve });
  const reached = (): number => secrets.reduce((sum, one) => sum + one.connections(), 0);
  const attempts = { all: 0, through: 0 };
  const count = (isThrough: boolean): void => {
    attempts.all++;
    if (isThrough) attempts.through++;
  };
  return {
    port,
    tools,
    names,
    resolve,
    paths,
    reached,
    attempts,
    count,
    async attempt(url, { expected = REFUSALS, tools: by = tools } = {}) {
      const before = reached();
      const result = await by.call("fetch", { url });
      const text = textOf(result);
      const isExpected = expected === null || (result.isError && expected.test(text));
      const isThrough = !isExpected || reached() !== before || text.includes(SECRET);
      count(isThrough);
      return { isThrough, text };
    },
    async close() {
      await tools.close();
      await Promise.all([server, ...secrets].map(async (one) => await one.close()));
    },
  };
}

/** Returns the addresses of this machine's interfaces but loopback. */
export const ownAddresses = (version: "IPv4" | "IPv6"): string[] =>
  Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).filter(({ internal, family }) => !internal && family === version).map(({ address }) => address),
  );

function resolverOf(names: PrivateNetwork["names"]): Resolve {
  const lookups: Record<string, number> = {};
  return (hostname, _options, callback) => {
    const count = (lookups[hostname] = (lookups[hostname] ?? 0) + 1);
    const answers = names[hostname] ?? (hostname.endsWith("localhost") ? [["127.0.0.1", "::1"]] : undefined);
    const addresses = answers?.[Math.min(count, answers.length) - 1];
    if (addresses === undefined) return callback(Object.assign(new Error("no such host"), { code: "ENOTFOUND" }), []);
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  };
}

/** Answers of the public server: `/page`, handlers of tests, and a redirect to `to` after `hops` redirects to itself. */
function answer(paths: PrivateNetwork["paths"], request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url as string, "http://public.test");
  const own = paths[url.pathname];
  if (own !== undefined) return own(request, response);
  const to = url.searchParams.get("to");
  const hops = Number(url.searchParams.get("hops") ?? 0);
  if (url.pathname === "/page") response.end("public page");
  else if (to === null) response.writeHead(404).end();
  else if (hops > 0)
    response.writeHead(307, { location: `/?${new URLSearchParams({ to, hops: String(hops - 1) })}` }).end();
  else
    response
      .writeHead(Number(url.searchParams.get("status") ?? 302), {
        location: Buffer.from(to).toString("latin1"),
        refresh: `0; url=${Buffer.from(to).toString("latin1")}`,
      })
      .end("<p>moved");
}
