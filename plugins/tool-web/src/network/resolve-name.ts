import type { LookupAddress, LookupOptions } from "node:dns";
import { Resolver } from "node:dns/promises";
import { callbackify } from "node:util";

/** Resolves a name to all of its addresses, like `dns.lookup` with `all`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Returns a resolver that asks name servers. `dns.lookup` would occupy a thread of the process for each name that is answered slowly, and four such names
 * would stop all work with files. The hosts file is therefore not read.
 * @param servers addresses with ports; default: those that the machine is configured with
 */
export function nameResolver(servers?: readonly string[]): Resolve {
  const resolve = callbackify(async (hostname: string): Promise<LookupAddress[]> => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    if (servers !== undefined) resolver.setServers(servers);
    const results = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = results.flatMap((result, index): LookupAddress[] =>
      result.status === "fulfilled" ? result.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })) : [],
    );
    if (addresses.length > 0) return addresses;
    throw Object.assign(new Error(`No address of ${hostname} was found.`), { code: "ENOTFOUND" });
  });
  return (hostname, _options, callback) => resolve(hostname, callback);
}
