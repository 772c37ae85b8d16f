import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { checkServerIdentity, createSecureContext, type SecureContext } from "node:tls";
import { type ChannelCredentials, type ChannelOptions, credentials } from "@grpc/grpc-js";
import { defined, MrlmError } from "@mrlm/spec";

/** TLS of a client, as texts in PEM form. */
export interface ClientTls {
  /** Certificates of the authorities that sign the server's certificate. Default: those that Node trusts. */
  readonly ca?: string | Buffer;
  /** Certificate of the client, which a server with `--tls-client-ca` requires; with `key`. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** Name that the server's certificate must have. Default: the host of the address. */
  readonly serverName?: string;
}

/** TLS of a client, or a function that returns the present one, such as that of files. */
export type TlsSource = ClientTls | (() => ClientTls);

/** Place of a server: a path of a Unix socket, or host and port. */
export type Endpoint = { readonly path: string } | { readonly host: string; readonly port: number };

/** Returns the credentials and options of a channel. @throws CONFIG_INVALID for certificates that cannot be used */
export function channelSecurity(
  address: string,
  tls: ClientTls | undefined,
): { readonly credentials: ChannelCredentials; readonly options: ChannelOptions } {
  if (tls === undefined) return { credentials: credentials.createInsecure(), options: {} };
  const name = serverNameOf(address, tls);
  const security = credentials.createFromSecureContext(secureContext(tls), {
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
  });
  // An IP address is no name that TLS can ask for (RFC 6066, section 3).
  const options = { "grpc.ssl_target_name_override": isIP(name) === 0 ? name : "localhost" };
  return { credentials: security, options: name === hostOf(address) && isIP(name) === 0 ? {} : options };
}

/** Makes the context of TLS connections. @throws CONFIG_INVALID */
export function secureContext({ ca, cert, key }: ClientTls): SecureContext {
  if ((cert === undefined) !== (key === undefined))
    throw new MrlmError(
      "CONFIG_INVALID",
      `The option tls has a ${cert === undefined ? "key and no certificate" : "certificate and no key"}.`,
      {
        hint: "Give `cert` and `key` for mutual TLS, or neither.",
      },
    );
  try {
    // Authorities that cannot be read would be ignored.
    if (ca !== undefined) void new X509Certificate(ca);
    return createSecureContext({
      ...defined({ ca, cert, key }),
    });
  } catch (cause) {
    throw new MrlmError(
      "CONFIG_INVALID",
      `The certificates of the option tls cannot be used: ${(cause as Error).message}`,
      {
        hint: "Give `ca`, `cert` and `key` as texts in PEM form.",
        cause,
      },
    );
  }
}

/** Returns the name that a server's certificate must have. */
export function serverNameOf(address: string, { serverName }: ClientTls): string {
  return serverName ?? hostOf(address);
}

/** Returns the place that an address names; of several the first. */
export function endpointOf(address: string): Endpoint {
  const unix = /^unix:(?:\/\/)?(.*)$/.exec(address)?.[1];
  if (unix !== undefined) return { path: unix };
  const first = (address.replace(/^(?:dns|ipv4|ipv6|xds):(?:\/\/[^/]*\/)?/, "").split(",")[0] as string).trim();
  const [, host = first, port = "443"] = /^(.*):(\d+)$/.exec(first) ?? [];
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function hostOf(address: string): string {
  const endpoint = endpointOf(address);
  return "path" in endpoint ? "localhost" : endpoint.host;
}
