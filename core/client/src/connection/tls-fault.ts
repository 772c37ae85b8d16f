import type { PeerCertificate } from "node:tls";
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import { isIP } from "node:net";
import { defined, MrlmError } from "@mrlm/spec";
import { type ClientTls, endpointOf, secureContext, serverNameOf } from "./tls.ts";

/** Longest examination in milliseconds. Servers that answer later may be busy. */
const LIMIT_MS = 2_000;

/** Code of Node or OpenSSL, with the reason of the latter. */
interface Fault {
  readonly code?: string;
  readonly reason?: string;
}

/** End of one TLS connection. */
interface Outcome {
  /** Error of the connection; `undefined` when the server closed it without one. */
  readonly error?: Fault;
  readonly wasEncrypted: boolean;
  /** Whether the server sent data after the handshake: it accepted this client. */
  readonly isAccepted: boolean;
  readonly certificate?: PeerCertificate;
}

/**
 * Examines why no connection succeeds: gRPC reports neither codes of TLS nor the refusal of a client. Makes one connection of its own.
 * @returns TLS_FAILED if every attempt must fail, else `undefined`
 */
export async function tlsFault(
  address: string,
  tls: ClientTls | undefined,
  limitMs = LIMIT_MS,
): Promise<MrlmError | undefined> {
  const outcome = await tryTls(address, tls, limitMs);
  if (outcome === undefined || outcome.isAccepted) return undefined;
  const server = `The server at ${address}`;
  const { error, wasEncrypted } = outcome;
  if (tls === undefined) {
    const isTls = wasEncrypted || /ALERT|CERTIFICATE/.test(error?.code ?? "");
    if (!isTls) return undefined;
    return fault(
      `${server} uses TLS, and this client does not`,
      "Give the client `tls` (server.tls in a configuration), with the authority of the server's certificate as `ca`.",
    );
  }
  // Without an alert the server may also have ended. A client with a certificate is refused in this way by servers on Node.
  if (
    tls.cert !== undefined &&
    wasEncrypted &&
    (error === undefined || error.code === "ECONNRESET" || error.code === "EPIPE")
  )
    return refusal(server, tls);
  return error === undefined ? undefined : faultOfCode(server, address, tls, outcome);
}

/** Opens a connection with TLS, until the server has sent data. `undefined` if no server can be reached, or if it sends nothing in time. */
async function tryTls(address: string, tls: ClientTls | undefined, limitMs: number): Promise<Outcome | undefined> {
  const name = serverNameOf(address, tls ?? {});
  const { promise, resolve } = Promise.withResolvers<Outcome | undefined>();
  const socket: TLSSocket = connect({
    ...endpointOf(address),
    ...(isIP(name) === 0 ? { servername: name } : {}),
    secureContext: secureContext(tls ?? {}),
    // The certificate can be read on an open connection only.
    rejectUnauthorized: false,
    checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
    ALPNProtocols: ["h2"],
  });
  let wasEncrypted = false;
  const end = (isAccepted: boolean, error?: Fault): void =>
    resolve({
      wasEncrypted,
      isAccepted,
      certificate: socket.getPeerCertificate(),
      ...defined({ error }),
    });
  socket.on("secureConnect", () => {
    wasEncrypted = true;
    // Of the type Error by its declaration, it is the code as text.
    const code = socket.authorizationError as unknown as string | null | undefined;
    if (tls === undefined) end(false);
    else if (code !== null && code !== undefined) end(false, { code });
  });
  socket.on("data", () => end(true));
  socket.on("error", (error: Fault) => end(false, error));
  socket.on("close", () => end(false));
  const timer = setTimeout(() => resolve(undefined), limitMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** Error of a handshake that the client ended, by the code of Node or OpenSSL; `undefined` for a connection that was refused or lost. */
function faultOfCode(
  server: string,
  address: string,
  tls: ClientTls,
  { error, certificate }: Outcome,
): MrlmError | undefined {
  const code = error?.code ?? "";
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|UNEXPECTED_MESSAGE|HTTP_REQUEST|RECORD_LAYER|BAD_RECORD_TYPE/.test(code))
    return fault(
      `${server} answers without TLS, and this client requires it`,
      "Start the server with --tls-cert and --tls-key, or leave `tls` out of the client's options.",
    );
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return fault(
      `The certificate of the server at ${address} belongs to another host: it is for ${namesOf(certificate)}, not for ${serverNameOf(address, tls)}`,
      "Connect to one of these names, or state the expected one by `tls.serverName` (server.tls.server_name in a configuration).",
    );
  if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") {
    const [what, when] =
      code === "CERT_HAS_EXPIRED"
        ? [" expired on", certificate?.valid_to ?? ""]
        : [" is not valid before", certificate?.valid_from ?? ""];
    const isOwn = Date.parse(when) < Date.now() === (code === "CERT_HAS_EXPIRED");
    return fault(
      `The certificate of the server at ${address}${isOwn ? `${what} ${when}` : " is valid, and that of its authority is not (any more)"}`,
      "Renew it on the server, which reads the changed file while it runs. If it is valid, correct the clock of this machine.",
    );
  }
  if (/^(?:DEPTH_ZERO_|SELF_SIGNED|UNABLE_TO_|CERT_SIGNATURE|CERT_UNTRUSTED|CERT_CHAIN)/.test(code))
    return fault(
      `No authority that this client trusts has signed the certificate of the server at ${address}`,
      "Give the file of the server's authority as `tls.ca` (server.tls.ca in a configuration).",
    );
  if (/ALERT_NO_APPLICATION_PROTOCOL|NO_APPLICATION_PROTOCOL/.test(code))
    return fault(`${server} uses TLS and is no gRPC server`, "Give the gRPC port (--port), not --http-port.");
  if (
    /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE|UNSUPPORTED_CERT|ACCESS_DENIED|HANDSHAKE_FAILURE)|CERTIFICATE_REQUIRED/.test(
      code,
    )
  )
    return refusal(server, tls, error?.reason);
  if (!/^(?:ERR_SSL|ERR_TLS|CERT_|INVALID_|EPROTO)/.test(code)) return undefined;
  return fault(
    `The handshake with the server at ${address} failed: ${error?.reason ?? code}`,
    "Check the certificates of both.",
  );
}

/** Error of a handshake that the server ended because of the client's certificate. */
function refusal(server: string, { cert }: ClientTls, reason?: string): MrlmError {
  const why = reason === undefined ? "" : ` (${reason})`;
  return cert === undefined
    ? fault(
        `${server} ended the connection, because this client sent no certificate${why}: it requires one (--tls-client-ca)`,
        "Give `tls.cert` and `tls.key` (server.tls.cert and server.tls.key in a configuration).",
      )
    : fault(
        `${server} does not accept the certificate of this client${why}`,
        "Use a certificate that one of the authorities of the server's --tls-client-ca has signed and that has not expired.",
      );
}

function namesOf(certificate: PeerCertificate | undefined): string {
  return (
    certificate?.subjectaltname?.replace(/(?:DNS|IP Address):/g, "") ??
    certificate?.subject?.CN?.toString() ??
    "no host"
  );
}

function fault(message: string, hint: string): MrlmError {
  return new MrlmError("TLS_FAILED", `${message}.`, { hint });
}
