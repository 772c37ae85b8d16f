import { MrlmError } from "@mrlm/kit";
import ipaddr from "ipaddr.js";
import { parseAddress } from "./forbidden-range.ts";

interface Entry {
  readonly network: [ipaddr.IPv4 | ipaddr.IPv6, number];
  readonly port: number | undefined;
}

/** Addresses that requests may reach although they are not public: `127.0.0.1:8080`, `10.1.0.0/16`, `[::1]:8080`, `fd00::/8`. */
export class AllowList {
  readonly #entries: readonly Entry[];

  /** @throws OPTIONS_INVALID for an entry that is not an address or a network with an optional port */
  constructor(entries: readonly string[]) {
    this.#entries = entries.map(parseEntry);
  }

  has(address: string, port: number): boolean {
    const parsed = parseAddress(address);
    if (parsed === undefined) return false;
    return this.#entries.some(
      ({ network, port: only }) =>
        network[0].kind() === parsed.kind() && parsed.match(network) && (only === undefined || only === port),
    );
  }
}

function parseEntry(text: string): Entry {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)|([^[\]]*:[^[\]]*:[^[\]]*))(?::(\d{1,5}))?$/.exec(text);
  const network = match?.[1] ?? match?.[2] ?? match?.[3];
  const port = match?.[4] === undefined ? undefined : Number(match[4]);
  if (network !== undefined && (port === undefined || (port > 0 && port < 65_536))) {
    const address = parseAddress(network.split("/", 1)[0] as string);
    if (address !== undefined && ipaddr.isValidCIDR(network)) return { network: ipaddr.parseCIDR(network), port };
    if (address !== undefined && !network.includes("/"))
      return { network: [address, address.kind() === "ipv4" ? 32 : 128], port };
  }
  throw new MrlmError(
    "OPTIONS_INVALID",
    `\`allow\` has the entry ${JSON.stringify(text)}, which is no address or network.`,
    {
      hint: "Write 127.0.0.1:8080, 10.1.0.0/16, [::1]:8080 or fd00::/8. Names of hosts are not accepted: a name may resolve to any address.",
    },
  );
}
