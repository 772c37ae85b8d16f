import { isIP, type LookupFunction, type Socket } from "node:net";
import { buildConnector } from "undici";
import type { AllowList } from "./allow-list.ts";
import { forbiddenRange } from "./forbidden-range.ts";
import { nameResolver, type Resolve } from "./resolve-name.ts";
import { WebError } from "./web-error.ts";

/** Rules for the addresses that a connection may use. */
export interface AddressRules {
  readonly allow: AllowList;
  /** Ports of public addresses. An entry of `allow` with a port allows that port. */
  readonly ports: readonly number[];
  /** Resolver of names. Default: the name servers of this machine. */
  readonly resolve?: Resolve;
}

const refusal = (): WebError =>
  new WebError(
    "address",
    "The host has no address that may be reached: it is not a public address, or the port is not allowed.",
  );

/**
 * Returns a connector of undici that connects to permitted addresses only. It checks an address in the URL before it connects (such an address is never
 * looked up), each result of a lookup as the connection uses it (a second lookup cannot return another address), and the peer of the socket.
 */
export function guardedConnector(
  { allow, ports, resolve = nameResolver() }: AddressRules,
  timeoutMs: number,
): buildConnector.connector {
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    const port = Number(options.port || (options.protocol === "https:" ? 443 : 80));
    const isPermitted = (address: string): boolean =>
      allow.has(address, port) || (ports.includes(port) && forbiddenRange(address) === undefined);
    if (isIP(host) !== 0 && !isPermitted(host)) return callback(refusal(), null);
    const lookup: LookupFunction = (name, lookupOptions, done) =>
      resolve(name, { ...lookupOptions, all: true }, (error, found) => {
        if (error !== null) return done(error, []);
        const addresses = found.filter(({ address }) => isPermitted(address));
        const [first] = addresses;
        if (first === undefined) return done(refusal(), []);
        if (lookupOptions.all === true) done(null, addresses);
        else done(null, first.address, first.family);
      });
    // One connector per connection: TLS sessions are not shared between requests.
    const connect = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      maxCachedSessions: 0,
      lookup,
      autoSelectFamily: true,
    });
    connect({ ...options, hostname: host }, (...result) => {
      const [error, socket] = result;
      if (error !== null) return callback(error, null);
      if (isPermitted((socket as Socket).remoteAddress ?? "")) return callback(null, socket);
      socket.destroy();
      callback(refusal(), null);
    });
  };
}
