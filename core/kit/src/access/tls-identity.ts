import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { contentFault, type CredentialFile } from "./credential-file.ts";

/** One side of a TLS connection, as texts in PEM form. */
export interface TlsIdentity {
  /** Own certificate, followed by those between it and its authority. */
  readonly cert?: string;
  /** Private key of the own certificate. */
  readonly key?: string;
  /** Certificates of the authorities whose certificates are accepted from the other side. */
  readonly ca?: string;
}

/** Text of a file that was read. */
export interface FileText extends CredentialFile {
  readonly text: string;
}

/** Files of a {@link TlsIdentity}. */
interface IdentityFiles {
  readonly cert?: FileText | undefined;
  readonly key?: FileText | undefined;
  readonly ca?: FileText | undefined;
}

/** Usages of a certificate that an extension may limit (RFC 5280, section 4.2.1.12). */
const USAGE = { server: "1.3.6.1.5.5.7.3.1", client: "1.3.6.1.5.5.7.3.2" } as const;
const ANY_USAGE = "2.5.29.37.0";

/**
 * Checks the files of one side of a TLS connection.
 * @throws CONFIG_INVALID for a file that holds no certificate or no key, a certificate that has expired or is for another purpose, and a key of
 * another certificate
 */
export function checkIdentity(side: "server" | "client", { cert, key, ca }: IdentityFiles): TlsIdentity {
  if (cert !== undefined && key !== undefined) checkPair(side, cert, key);
  if (ca !== undefined) checkAuthorities(ca);
  const identity: TlsIdentity = {
    ...(cert === undefined ? {} : { cert: cert.text }),
    ...(key === undefined ? {} : { key: key.text }),
    ...(ca === undefined ? {} : { ca: ca.text }),
  };
  try {
    createSecureContext(identity);
  } catch (cause) {
    const file = (cert ?? ca) as FileText;
    throw contentFault(file, `cannot be used: ${(cause as Error).message}`, "Create a new key and certificate.", cause);
  }
  return identity;
}

function checkPair(side: "server" | "client", cert: FileText, key: FileText): void {
  const [own, ...others] = certificates(cert) as [X509Certificate, ...X509Certificate[]];
  const renew = "Renew the certificate. If it is valid, correct the clock of this machine.";
  if (own.validToDate.getTime() < Date.now())
    throw contentFault(cert, `holds a certificate that expired on ${own.validToDate.toISOString()}`, renew);
  if (own.validFromDate.getTime() > Date.now())
    throw contentFault(cert, `holds a certificate that is not valid before ${own.validFromDate.toISOString()}`, renew);
  // Of an extension that is absent, Node's property is undefined, which its types leave out.
  const usages = own.keyUsage as string[] | undefined;
  if (usages !== undefined && !usages.includes(USAGE[side]) && !usages.includes(ANY_USAGE))
    throw contentFault(
      cert,
      `holds a certificate that is not for a ${side}`,
      `Its extended key usage must include ${side}Auth.`,
    );
  const secret = privateKey(key);
  if (own.checkPrivateKey(secret)) return;
  const isOrder = others.some((other) => other.checkPrivateKey(secret));
  throw contentFault(
    key,
    isOrder
      ? `belongs to a later certificate of ${cert.path}, and not to the first`
      : `belongs to another certificate than that of ${cert.path}`,
    isOrder ? `Put the ${side}'s own certificate first.` : "Give the key that the certificate was made with.",
  );
}

function checkAuthorities(ca: FileText): void {
  const newest = Math.max(...certificates(ca).map(({ validToDate }) => validToDate.getTime()));
  if (newest < Date.now())
    throw contentFault(
      ca,
      `holds no certificate that is still valid; the last one expired on ${new Date(newest).toISOString()}`,
      "Give the present certificates of the authorities.",
    );
}

/** Returns the certificates of a file, at least one. */
function certificates(file: FileText): X509Certificate[] {
  const blocks = file.text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) {
    const isKey = file.text.includes("PRIVATE KEY-----");
    throw contentFault(
      file,
      `holds ${isKey ? "a private key and " : ""}no certificate in PEM form`,
      isKey ? "Check that the paths are not exchanged." : "A certificate begins with -----BEGIN CERTIFICATE-----.",
    );
  }
  return blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw contentFault(file, `holds a broken certificate (number ${i + 1})`, "Write the file again.", cause);
    }
  });
}

function privateKey(file: FileText): KeyObject {
  try {
    return createPrivateKey(file.text);
  } catch (cause) {
    const isLocked = /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(file.text);
    throw contentFault(
      file,
      isLocked ? "is protected by a passphrase" : "holds no private key in PEM form",
      isLocked
        ? "Give a key without a passphrase, in a file that only this user can read (mode 0600)."
        : "A key begins with -----BEGIN PRIVATE KEY-----. Check that the paths are not exchanged.",
      cause,
    );
  }
}
