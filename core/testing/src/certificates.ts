import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIP } from "node:net";

/** Certificate with its private key, in PEM form. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** DNS names and IPv4 addresses. Default: localhost and 127.0.0.1. */
  readonly names?: readonly string[];
  /** First and last moment of validity. Default: from a day ago, for 30 days. */
  readonly from?: Date;
  readonly to?: Date;
  /** Purposes that the certificate is limited to. Default: none, for any purpose. */
  readonly usages?: readonly ("server" | "client")[];
}

/** Authority that issues certificates, for tests. */
export interface Authority {
  /** Certificate of the authority in PEM form. */
  readonly cert: string;
  issue(options?: CertificateOptions): Certificate;
}

const DAY_MS = 86_400_000;
const ECDSA_WITH_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

/**
 * Creates an authority with a key of its own. Certificates follow RFC 5280; keys are on the curve P-256.
 * @param to last moment of its validity. Default: in 60 days
 */
export function createAuthority(name = "test authority", to = new Date(Date.now() + 60 * DAY_MS)): Authority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const validity = { from: new Date(Date.now() - 2 * DAY_MS), to };
  const isAuthority = extension("2.5.29.19", true, sequence(der(0x01, Buffer.from([0xff]))));
  const issuer = distinguishedName(name);
  const cert = certificate({
    issuer,
    subject: issuer,
    ...validity,
    publicKey,
    extensions: [isAuthority],
    signer: privateKey,
  });
  return {
    cert,
    issue(options = {}) {
      const { names = ["localhost", "127.0.0.1"], usages } = options;
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const extensions = [
        extension("2.5.29.17", false, sequence(...names.map(generalName))),
        ...(usages === undefined
          ? []
          : [
              extension(
                "2.5.29.37",
                false,
                sequence(...usages.map((usage) => oid(`1.3.6.1.5.5.7.3.${usage === "server" ? 1 : 2}`))),
              ),
            ]),
      ];
      return {
        cert: certificate({
          issuer,
          subject: distinguishedName(names[0] ?? "unnamed"),
          from: options.from ?? new Date(Date.now() - DAY_MS),
          to: options.to ?? new Date(Date.now() + 29 * DAY_MS),
          publicKey: own.publicKey,
          extensions,
          signer: privateKey,
        }),
        key: own.privateKey.export({ type: "pkcs8", format: "pem" }) as string,
      };
    },
  };
}

function certificate(content: {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly from: Date;
  readonly to: Date;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly signer: KeyObject;
}): string {
  const version3 = der(0xa0, integer(Buffer.from([2])));
  const serial = Buffer.concat([Buffer.from([0x40]), randomBytes(15)]);
  const body = sequence(
    version3,
    integer(serial),
    ECDSA_WITH_SHA256,
    content.issuer,
    sequence(time(content.from), time(content.to)),
    content.subject,
    content.publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...content.extensions)),
  );
  const signature = bitString(sign("sha256", body, content.signer));
  const lines =
    sequence(body, ECDSA_WITH_SHA256, signature)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

/** Encodes a value of ASN.1 by the distinguished encoding rules (X.690). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length = size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return der(0x02, bytes);
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes);
}

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

/** Encodes a moment between 1950 and 2049. */
function time(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, "")}Z`));
}

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(oid("2.5.4.3"), der(0x0c, Buffer.from(commonName)))));
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function generalName(name: string): Buffer {
  return isIP(name) === 4 ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name));
}
