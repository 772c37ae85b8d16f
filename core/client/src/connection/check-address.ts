import { MrlmError } from "@mrlm/spec";

/**
 * Returns the address if it is `host:port`, `[IPv6]:port`, or a gRPC target of another kind (`unix:PATH`).
 * @throws MrlmError CONFIG_INVALID otherwise: without a port gRPC would use 443
 */
export function checkAddress(address: string): string {
  if (/^(?:dns|unix|ipv4|ipv6|xds):/.test(address)) return address;
  const [, host = "", port] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined) throw badAddress(address, "names no port");
  if (host === "" || /\s/.test(host)) throw badAddress(address, "names no host");
  if (host.includes(":") && !/^\[[^\][]+\]$/.test(host))
    throw badAddress(address, "has an IPv6 address without brackets", "[::1]:50051");
  if (Number(port) < 1 || Number(port) > 65_535) throw badAddress(address, `has port ${port}, outside 1 to 65535`);
  return address;
}

/** Makes the error of an address of the wrong form. */
export function badAddress(address: string, fault: string, example = "127.0.0.1:50051"): MrlmError {
  return new MrlmError("CONFIG_INVALID", `The address "${address}" ${fault}.`, {
    hint: `Give it as host:port, for example ${example}.`,
  });
}
