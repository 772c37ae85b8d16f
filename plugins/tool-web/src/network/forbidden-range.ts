import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/** Addresses in public ranges that clouds route to their metadata service: Azure's WireServer. Those of other clouds lie in private ranges. */
const METADATA = new Set(["168.63.129.16"]);
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");
/** Third group of an ISATAP interface identifier, whose last 32 bits are an IPv4 address (RFC 5214). */
const ISATAP_GROUPS = new Set([0x0000, 0x0200]);

/**
 * Returns the name of the range that forbids an address, or undefined for a public unicast address outside of the networks of this machine. An IPv6 address must lie in
 * 2000::/3 outside of the ranges that tunnel or translate to IPv4 (NAT64, 6to4, Teredo). An IPv4-mapped address counts as its IPv4 address.
 */
export function forbiddenRange(address: string): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined) return "unknown notation";
  const range = parsed.range();
  if (range !== "unicast") return range;
  const text = parsed.toString();
  if (METADATA.has(text)) return "metadata";
  if (parsed instanceof ipaddr.IPv6) {
    if (!parsed.match(GLOBAL_UNICAST)) return "reserved";
    if (parsed.parts[5] === 0x5efe && ISATAP_GROUPS.has(parsed.parts[4] as number)) return "isatap";
  }
  return ownNetworks().some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))
    ? "network of this machine"
    : undefined;
}

/** Parses the text of an address without its zone; undefined for short, octal and other notations that programs read in different ways. An IPv4-mapped address becomes its IPv4 address. */
export function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const text = address.replace(/%.*$/s, "");
  return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

/**
 * Returns the networks that the interfaces of this machine are in. Services of this machine and of its neighbours may trust them. The shortest prefix is
 * the length that providers assign: a shorter one is a configuration error and would forbid the web.
 */
function ownNetworks(): [ipaddr.IPv4 | ipaddr.IPv6, number][] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.flatMap(({ address, cidr }) => {
    const parsed = parseAddress(address);
    if (parsed === undefined) return [];
    const isIPv4 = parsed.kind() === "ipv4";
    const bits = Number(cidr?.split("/")[1] ?? (isIPv4 ? 32 : 128));
    return [[parsed, bits < (isIPv4 ? 16 : 48) ? (isIPv4 ? 32 : 128) : bits]];
  });
}
