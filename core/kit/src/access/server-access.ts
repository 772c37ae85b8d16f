import { X509Certificate } from "node:crypto";
import { type Logger, MrlmError } from "@mrlm/spec";
import { type CredentialFile, readCredentialFile } from "./credential-file.ts";
import { readTokens } from "./read-tokens.ts";
import { ServerTls } from "./server-tls.ts";
import { checkIdentity, type TlsIdentity } from "./tls-identity.ts";
import { Tokens } from "./tokens.ts";
import { watchFiles } from "./watch-files.ts";

const DAY_MS = 86_400_000;
/** Time before its end in which a certificate is reported every day. */
const EXPIRING_MS = 7 * DAY_MS;

/** Files of a server's credentials. */
export interface AccessFiles {
  /** One token, or `NAME TOKEN` in each line. */
  readonly tokens?: string;
  /** Certificate in PEM form, followed by those between it and its authority; with `key`. */
  readonly cert?: string;
  readonly key?: string;
  /** Authorities of the certificates that clients must have; with `cert` and `key`. */
  readonly clientCa?: string;
}

/** Credentials of a server. */
export interface ServerAccess {
  readonly tokens?: Tokens;
  readonly tls?: ServerTls;
  /** Reads the files no more. */
  close(): void;
}

/** Options of {@link openServerAccess}. */
interface AccessOptions {
  readonly logger: Logger;
  /** Whether to follow changes of the files. */
  readonly isReloading: boolean;
  /** Milliseconds for which a token stays valid after its removal from the file. */
  readonly tokenGraceMs: number;
  /** Milliseconds between two readings. Default: 1,000. */
  readonly intervalMs?: number;
}

/**
 * Reads the files of a server's credentials and follows their changes. A changed file that is missing or broken is logged, and the credentials in use
 * stay.
 * @throws CONFIG_INVALID for a file that cannot be read or used
 */
export function openServerAccess(files: AccessFiles, options: AccessOptions): ServerAccess {
  const { logger, isReloading, tokenGraceMs, intervalMs = 1_000 } = options;
  const ends: (() => void)[] = [];

  /** Reads files into a value, and applies each later value. */
  const open = <T>(list: readonly CredentialFile[], read: (texts: readonly string[]) => T, kept: string) => {
    const texts = list.map(readCredentialFile);
    const fault = (error: unknown): void =>
      logger.warn(`${MrlmError.isInstance(error) ? error.message : String(error)} ${kept}`);
    return {
      value: read(texts),
      onChange: (apply: (value: T) => void): void => {
        if (!isReloading) return;
        const changed = (changedTexts: readonly string[]): void => {
          try {
            apply(read(changedTexts));
          } catch (error) {
            return fault(error);
          }
          for (const { what, path } of list) logger.info(`${what} ${path} was read again`);
        };
        ends.push(watchFiles(list, texts, { changed, failed: fault }, intervalMs));
      },
    };
  };

  const openTokens = (path: string): Tokens => {
    const file = { what: "The token file", path };
    const { value, onChange } = open([file], ([text = ""]) => readTokens(text, file), "The old tokens stay in use.");
    const tokens = new Tokens(value);
    onChange((list) => tokens.replace(list, tokenGraceMs));
    return tokens;
  };

  const openTls = (cert: string, key: string): ServerTls => {
    const list: CredentialFile[] = [
      { what: "The certificate file", path: cert },
      { what: "The key file", path: key },
      ...(files.clientCa === undefined ? [] : [{ what: "The file of client authorities", path: files.clientCa }]),
    ];
    const read = (texts: readonly string[]): TlsIdentity => {
      const [certText, keyText, ca] = list.map((file, i) => ({ ...file, text: texts[i] as string }));
      return checkIdentity("server", { cert: certText, key: keyText, ca });
    };
    const { value, onChange } = open(list, read, "The old certificate stays in use.");
    const tls = new ServerTls(value);
    const warnOfExpiry = (): void => {
      const { validToDate } = new X509Certificate(tls.identity.cert as string);
      if (validToDate.getTime() - Date.now() < EXPIRING_MS)
        logger.warn(
          `The certificate of ${cert} expires on ${validToDate.toISOString()}. Replace the file; the server reads it while it runs.`,
        );
    };
    warnOfExpiry();
    onChange((identity) => {
      tls.replace(identity);
      warnOfExpiry();
    });
    const timer = setInterval(warnOfExpiry, DAY_MS).unref();
    ends.push(() => clearInterval(timer));
    return tls;
  };

  try {
    return {
      ...(files.tokens === undefined ? {} : { tokens: openTokens(files.tokens) }),
      ...(files.cert === undefined || files.key === undefined ? {} : { tls: openTls(files.cert, files.key) }),
      close: () => ends.forEach((end) => end()),
    };
  } catch (error) {
    ends.forEach((end) => end());
    throw error;
  }
}
