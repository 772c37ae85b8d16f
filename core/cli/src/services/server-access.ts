import { openServerAccess, type ServerAccess } from "@mrlm/kit/access";
import { defined, type Logger, MrlmError } from "@mrlm/spec";
import type { AccessOptions } from "../declarations/flag-groups.ts";
import type { ServeOptions } from "../declarations/serve.ts";

/** Flags of a server, and what its command adds to them. */
interface ServerAccessOptions extends AccessOptions, Pick<ServeOptions, "untilStdinEnds"> {
  /** Whether the server has a token that no file names. */
  readonly hasOwnToken?: boolean;
}

/** Seconds for which a token stays valid after its removal from the file: Kubernetes needs up to two minutes to renew a mounted secret everywhere. */
const TOKEN_GRACE_SECONDS = 300;
const MAX_GRACE_SECONDS = 7 * 24 * 3_600;

/**
 * Checks the options, and opens the credentials of a server. All of its ports use them.
 * @throws USAGE for options that contradict each other, CONFIG_INVALID for a file that cannot be used, ADDRESS_INSECURE for an address that other
 * machines reach without a token or without TLS
 */
export function serverAccess(options: ServerAccessOptions, logger: Logger): ServerAccess {
  const { tokenFile, tokenGraceSeconds, tlsCert, tlsKey, tlsClientCa } = options;
  if (tlsCert === undefined && tlsKey !== undefined)
    throw new MrlmError("USAGE", "--tls-key is the key of a certificate: give --tls-cert too.");
  if (tlsCert !== undefined && tlsKey === undefined)
    throw new MrlmError("USAGE", `The certificate ${tlsCert} of --tls-cert lacks its key: give --tls-key too.`);
  if (tlsCert === undefined && tlsClientCa !== undefined)
    throw new MrlmError("USAGE", "--tls-client-ca is for a server with TLS: give --tls-cert and --tls-key too.");
  if (tokenFile === undefined && tokenGraceSeconds !== undefined)
    throw new MrlmError("USAGE", "--token-grace-seconds is for tokens that are replaced: give --token-file too.");
  const graceSeconds = tokenGraceSeconds ?? TOKEN_GRACE_SECONDS;
  if (graceSeconds > MAX_GRACE_SECONDS)
    throw new MrlmError("USAGE", `--token-grace-seconds ${graceSeconds} is more than a week.`);
  requireSecureAddress(options);
  return openServerAccess(
    {
      ...defined({ tokens: tokenFile, cert: tlsCert, key: tlsKey, clientCa: tlsClientCa }),
    },
    // A parent process removes the file of its token once the server has read it.
    { logger, tokenGraceMs: graceSeconds * 1_000, isReloading: options.untilStdinEnds !== true },
  );
}

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "[::1]" || /^127(\.\d+){3}$/.test(host);
}

function requireSecureAddress({ host, tokenFile, tlsCert, insecure, hasOwnToken = false }: ServerAccessOptions): void {
  const hasToken = hasOwnToken || tokenFile !== undefined;
  if (insecure === true || isLoopback(host) || (hasToken && tlsCert !== undefined)) return;
  const lacks = [
    ...(!hasToken ? ["a token (any client could use it): --token-file FILE"] : []),
    ...(tlsCert === undefined
      ? ["TLS (the network could read tokens and episodes): --tls-cert FILE --tls-key FILE"]
      : []),
  ];
  throw new MrlmError(
    "ADDRESS_INSECURE",
    `Other machines reach --host ${host}, and the server lacks ${lacks.join("; ")}.`,
    {
      hint: "Give the named flags. On a network that you trust, or behind a proxy that adds what is missing, give --insecure.",
    },
  );
}
