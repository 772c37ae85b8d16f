import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createPrivateKey } from "node:crypto";
import { createAuthority } from "@mrlm/testing";
import type { RandomStream } from "@mrlm/spec";
import type { ServeOptions } from "../../src/declarations/serve.ts";
import type { GivenOptions } from "./parse-options.ts";

type Authority = ReturnType<typeof createAuthority>;

/** Options of `mrlm serve` that must be refused before a port opens. */
export interface RefusedOptions {
  readonly options: GivenOptions<ServeOptions>;
  readonly code: "USAGE" | "CONFIG_INVALID" | "ADDRESS_INSECURE";
  /** Parts of the message: the problem and its place. */
  readonly message: readonly (string | RegExp)[];
}

/** Draws of a case. */
export interface Draws {
  readonly random: RandomStream;
  /** Writes a file with a new name. @returns its path */
  file(content: string): string;
  readonly folder: string;
}

const authority = createAuthority();
const HOUR_MS = 3_600_000;
const HEX = "0123456789abcdef";

/** Classes of faults by name. Each makes other options with each draw. */
export const ACCESS_FAULTS: Readonly<Record<string, (draws: Draws) => RefusedOptions>> = {
  "a token file that does not exist": ({ folder, random }) => {
    const tokenFile = join(folder, `none-${text(random, 6)}`);
    return invalid({ tokenFile }, tokenFile, "there is no such file");
  },
  "a token file that cannot be read": (draws) => {
    const { path, reason } = unreadable(draws);
    return invalid({ tokenFile: path }, path, reason);
  },
  "an empty token file": ({ file, random }) => {
    const tokenFile = file(random.pick(["", "\n", " \n\t\n", "\r\n\r\n"]));
    return invalid({ tokenFile }, tokenFile, "is empty");
  },
  "several tokens without names": ({ file, random }) => {
    const tokenFile = file(`${text(random, 64)}\n${text(random, 64)}\n`);
    return invalid({ tokenFile }, tokenFile, "line 1 holds a token without a name");
  },
  "a line of several words": ({ file, random }) => {
    const tokenFile = file(`one ${text(random, 32)}\ntwo ${text(random, 8)} ${text(random, 8)}\n`);
    return invalid({ tokenFile }, tokenFile, "line 2 holds 3 words");
  },
  "a token in the place of its name": ({ file, random }) => {
    const tokenFile = file(`${text(random, 64)} alice\n`);
    return invalid({ tokenFile }, tokenFile, "line 1 does not begin with a name");
  },
  "characters that a token may not have": ({ file, random }) => {
    const tokenFile = file(`name ${text(random, 8)}${random.pick(["é", "\u0007", "\u200b", "\ufeff", "\u0000"])}x\n`);
    return invalid({ tokenFile }, tokenFile, /line 1 holds/);
  },
  "two tokens of one name": ({ file, random }) => {
    const name = text(random, 5);
    const tokenFile = file(`${name} ${text(random, 32)}\nother ${text(random, 32)}\n\n${name} ${text(random, 32)}\n`);
    return invalid({ tokenFile }, tokenFile, "line 4 has the same name as line 1");
  },
  "one token of two names": ({ file, random }) => {
    const token = text(random, 32);
    const tokenFile = file(`one ${token}\ntwo ${token}\n`);
    return invalid({ tokenFile }, tokenFile, "line 2 has the same token as line 1");
  },
  "a certificate that has expired": (draws) => {
    const to = new Date(Date.now() - 1_000 - draws.random.integer(0, HOUR_MS));
    const pair = issue(draws, authority, { to });
    return invalid(pair, pair.tlsCert, `expired on ${to.toISOString().slice(0, 10)}`);
  },
  "a certificate of the future": (draws) => {
    const pair = issue(draws, authority, { from: new Date(Date.now() + 2_000 + draws.random.integer(0, HOUR_MS)) });
    return invalid(pair, pair.tlsCert, "is not valid before");
  },
  "a certificate for clients": (draws) => {
    const pair = issue(draws, authority, { usages: ["client"] });
    return invalid(pair, pair.tlsCert, "not for a server");
  },
  "a certificate without its key": (draws) => {
    const { tlsCert } = issue(draws);
    return { options: { tlsCert }, code: "USAGE", message: [tlsCert, "lacks its key: give --tls-key"] };
  },
  "a key without its certificate": (draws) => {
    const { tlsKey } = issue(draws);
    return { options: { tlsKey }, code: "USAGE", message: ["give --tls-cert"] };
  },
  "a key file that does not exist": (draws) => {
    const pair = { ...issue(draws), tlsKey: join(draws.folder, `none-${text(draws.random, 6)}`) };
    return invalid(pair, `The key file ${pair.tlsKey}`, "there is no such file");
  },
  "the key of another certificate": (draws) => {
    const pair = { ...issue(draws), tlsKey: issue(draws).tlsKey };
    return invalid(pair, pair.tlsKey, `another certificate than that of ${pair.tlsCert}`);
  },
  "a key with a passphrase": (draws) => {
    const { cert, key } = authority.issue();
    const locked = createPrivateKey(key).export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-128-cbc",
      passphrase: text(draws.random, 8),
    });
    const pair = { tlsCert: draws.file(cert), tlsKey: draws.file(String(locked)) };
    return invalid(pair, pair.tlsKey, "passphrase");
  },
  "exchanged files of certificate and key": (draws) => {
    const { tlsCert, tlsKey } = issue(draws);
    return invalid({ tlsCert: tlsKey, tlsKey: tlsCert }, tlsKey, "a private key and no certificate");
  },
  "a certificate that is cut off": ({ file, random }) => {
    const { cert, key } = authority.issue();
    const tlsCert = file(cert.slice(0, random.integer(1, cert.length - 10)));
    return invalid({ tlsCert, tlsKey: file(key) }, tlsCert, /holds no certificate|broken/);
  },
  "a certificate behind that of its authority": ({ file }) => {
    const { cert, key } = authority.issue();
    const pair = { tlsCert: file(authority.cert + cert), tlsKey: file(key) };
    return invalid(pair, pair.tlsKey, "belongs to a later certificate");
  },
  "authorities without a certificate": (draws) => {
    const tlsClientCa = draws.file(draws.random.pick(["", "x", authority.issue().key]));
    return invalid({ ...issue(draws), tlsClientCa }, tlsClientCa, /is empty|no certificate/);
  },
  "authorities that have expired": (draws) => {
    const tlsClientCa = draws.file(authority.issue({ to: new Date(Date.now() - 1_000) }).cert);
    return invalid({ ...issue(draws), tlsClientCa }, tlsClientCa, "no certificate that is still valid");
  },
  "authorities of clients without TLS": ({ file }) => ({
    options: { tlsClientCa: file(authority.cert) },
    code: "USAGE",
    message: ["--tls-client-ca", "give --tls-cert"],
  }),
  "a time of grace that is none": (draws) => ({
    options: {
      tokenFile: draws.file(text(draws.random, 32)),
      tokenGraceSeconds: draws.random.pick(["-1", "x", "1.5"]),
    },
    code: "USAGE",
    message: ["--token-grace-seconds"],
  }),
  "a time of grace of more than a week": (draws) => ({
    options: { tokenFile: draws.file(text(draws.random, 32)), tokenGraceSeconds: "604801" },
    code: "USAGE",
    message: ["--token-grace-seconds 604801 is more than a week"],
  }),
  "other machines without a token": (draws) => ({
    options: { ...issue(draws), host: otherHost(draws.random), ...port(draws.random) },
    code: "ADDRESS_INSECURE",
    message: ["a token", "--token-file"],
  }),
  "other machines without TLS": (draws) => ({
    options: { tokenFile: draws.file(text(draws.random, 32)), host: otherHost(draws.random), ...port(draws.random) },
    code: "ADDRESS_INSECURE",
    message: ["TLS", "--tls-cert FILE --tls-key FILE"],
  }),
};

function invalid(options: GivenOptions<ServeOptions>, ...message: (string | RegExp)[]): RefusedOptions {
  return { options, code: "CONFIG_INVALID", message };
}

/** Issues a certificate for a server, in files. */
export function issue(
  { file }: Pick<Draws, "file">,
  by: Authority = authority,
  options: Parameters<Authority["issue"]>[0] = {},
): { readonly tlsCert: string; readonly tlsKey: string } {
  const { cert, key } = by.issue(options);
  return { tlsCert: file(cert), tlsKey: file(key) };
}

function unreadable({ folder, random }: Draws): { readonly path: string; readonly reason: string } {
  const path = join(folder, `unreadable-${text(random, 6)}`);
  // A user without rights cannot be imitated by root.
  if (random.integer(0, 1) === 0) {
    mkdirSync(path);
    return { path, reason: "it is a directory" };
  }
  symlinkSync(path, path);
  return { path, reason: "its links lead in a circle" };
}

function otherHost(random: RandomStream): string {
  return random.pick([
    "0.0.0.0",
    "::",
    `10.0.0.${random.integer(0, 255)}`,
    "128.0.0.1",
    "localhost.example.org",
    "::ffff:10.0.0.1",
  ]);
}

/** Ports that the rule holds for: that of environments, also with HTTP, and that of policies. */
function port(random: RandomStream): GivenOptions<ServeOptions> {
  return random.pick<GivenOptions<ServeOptions>>([{}, { httpPort: ["0"] }, { model: "nowhere" }]);
}

function text(random: RandomStream, length: number): string {
  return Array.from({ length }, () => HEX[random.integer(0, 15)]).join("");
}
