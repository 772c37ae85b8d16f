import { ServerTls, type TlsIdentity } from "@mrlm/kit/access";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { type EnvironmentServer, serveEnvironments } from "@mrlm/server";
import type { RandomStream } from "@mrlm/spec";
import { createAuthority } from "@mrlm/testing";
import { connectEnvironments } from "../../src/index.ts";
import type { ClientTls } from "../../src/connection/tls.ts";
import { countingPlugin } from "./counting-plugin.ts";

/** TLS of both sides that do not fit together. */
interface HandshakeFault {
  /** `undefined`: plain TCP. */
  readonly server: TlsIdentity | undefined;
  readonly client: ClientTls | undefined;
  /** Part of the error of the client. */
  readonly message: string | RegExp;
}

export const authority = createAuthority();
const stranger = createAuthority("another authority");
const HOUR_MS = 3_600_000;

/** Faults that no server can know by its own files. Each makes other certificates with each draw. */
export const HANDSHAKE_FAULTS: Readonly<Record<string, (random: RandomStream) => HandshakeFault>> = {
  "a certificate that has expired while the server ran": (random) => ({
    server: authority.issue({ to: new Date(Date.now() - 1_000 - random.integer(0, HOUR_MS)) }),
    client: { ca: authority.cert },
    message: /expired on .*GMT/,
  }),
  "a certificate of the future": (random) => ({
    server: authority.issue({ from: new Date(Date.now() + 60_000 + random.integer(0, HOUR_MS)) }),
    client: { ca: authority.cert },
    message: "is not valid before",
  }),
  "an authority that has expired": (random) => {
    const expired = createAuthority("old authority", new Date(Date.now() - 1_000 - random.integer(0, HOUR_MS)));
    return { server: expired.issue(), client: { ca: expired.cert }, message: "that of its authority is not" };
  },
  "a certificate of another host": (random) => {
    const name = `host-${random.integer(0, 999)}.example.org`;
    return {
      server: authority.issue({ names: [name] }),
      client: { ca: authority.cert },
      message: `belongs to another host: it is for ${name}, not for 127.0.0.1`,
    };
  },
  "another name than the expected one": (random) => {
    const serverName = `host-${random.integer(0, 999)}.example.org`;
    return {
      server: authority.issue(),
      client: { ca: authority.cert, serverName },
      message: `localhost, 127.0.0.1, not for ${serverName}`,
    };
  },
  "an authority that the client does not trust": (random) => ({
    server: authority.issue(),
    client: random.pick([{ ca: stranger.cert }, {}]),
    message: "No authority that this client trusts",
  }),
  "a client without a certificate": () => ({
    server: { ...authority.issue(), ca: authority.cert },
    client: { ca: authority.cert },
    message: "this client sent no certificate",
  }),
  "a client whose certificate is of another authority": () => ({
    server: { ...authority.issue(), ca: authority.cert },
    client: { ca: authority.cert, ...stranger.issue({ usages: ["client"] }) },
    message: "does not accept the certificate of this client",
  }),
  "a client whose certificate has expired": (random) => ({
    server: { ...authority.issue(), ca: authority.cert },
    client: {
      ca: authority.cert,
      ...authority.issue({ to: new Date(Date.now() - 1_000 - random.integer(0, HOUR_MS)) }),
    },
    message: "does not accept the certificate of this client",
  }),
  "a client without TLS": (random) => ({
    server: random.pick([authority.issue(), { ...authority.issue(), ca: authority.cert }]),
    client: undefined,
    message: "uses TLS, and this client does not",
  }),
  "a server without TLS": () => ({
    server: undefined,
    client: { ca: authority.cert },
    message: "answers without TLS",
  }),
};

/** Serves the counting environment on a free port of the loopback interface. */
export async function serveCounting(tls: ServerTls | TlsIdentity | undefined): Promise<EnvironmentServer> {
  return serveEnvironments({
    host: new LocalHost({ source: await PluginHost.of([countingPlugin]) }),
    address: "127.0.0.1:0",
    ...(tls === undefined ? {} : { tls: tls instanceof ServerTls ? tls : new ServerTls(tls) }),
  });
}

/** Returns the error of a client, which gets a minute to connect: an error before that is no timeout. */
export async function handshakeError({ server: identity, client }: HandshakeFault): Promise<unknown> {
  const server = await serveCounting(identity);
  try {
    const host = await connectEnvironments(`127.0.0.1:${server.port}`, {
      connectMs: 60_000,
      ...(client === undefined ? {} : { tls: client }),
    });
    await host.close();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    await server.close();
  }
}
