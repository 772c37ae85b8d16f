import { canBeReadAgain, contentFault, type CredentialFile, readCredentialFile } from "./credential-file.ts";
import { readTokens } from "./read-tokens.ts";
import { checkIdentity, type TlsIdentity } from "./tls-identity.ts";

/** Files of a client of a server with TLS. */
export interface ClientFiles {
  /** Authorities of the server's certificate. Default: those that Node trusts. */
  readonly ca?: string;
  /** Certificate of the client for mutual TLS; with `key`. */
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Returns a function that reads the file with a client's token: one token, or one `NAME TOKEN`. When a later reading fails, it returns the latest token.
 * @throws CONFIG_INVALID if the file cannot be read, or does not hold one token
 */
export function clientToken(path: string): () => string {
  const file: CredentialFile = { what: "The token file", path };
  return keptOnFault([path], () => {
    const [{ token }, ...others] = readTokens(readCredentialFile(file), file);
    if (others.length === 0) return token;
    throw contentFault(
      file,
      `does not hold a token of one client: it has ${others.length + 1} tokens`,
      "It is the file of a server. Give each client a file with its own token.",
    );
  });
}

/**
 * Returns a function that reads the files of a client's TLS identity. When a later reading fails, it returns the latest identity.
 * @throws CONFIG_INVALID for a file that cannot be read or used
 */
export function clientIdentity({ ca, cert, key }: ClientFiles): () => TlsIdentity {
  const read = (what: string, path: string | undefined) =>
    path === undefined ? undefined : { what, path, text: readCredentialFile({ what, path }) };
  const given = [ca, cert, key].filter((path) => path !== undefined);
  return keptOnFault(given, () =>
    checkIdentity("client", {
      ca: read("The file of authorities", ca),
      cert: read("The certificate file", cert),
      key: read("The key file", key),
    }),
  );
}

/** Calls a function, now and each time. When a later call throws, returns the latest value: a file is incomplete while it is written. */
function keptOnFault<T>(paths: readonly string[], read: () => T): () => T {
  let latest = read();
  return () => {
    try {
      if (paths.every(canBeReadAgain)) latest = read();
    } catch {
      // The file may be complete at the next call.
    }
    return latest;
  };
}
