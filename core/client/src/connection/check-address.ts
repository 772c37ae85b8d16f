import { MrlmError } from "@mrlm/spec";

/** Returns the address if it names a port or is a gRPC target of another kind (`unix:PATH`). Throws CONFIG_INVALID otherwise: without a port gRPC would use 443. */
export function checkAddress(address: string): string {
  if (/:\d{1,5}$/.test(address) || /^(?:dns|unix|ipv4|ipv6|xds):/.test(address)) return address;
  throw new MrlmError("CONFIG_INVALID", `The address "${address}" names no port.`, {
    hint: "Give it as host:port, for example 127.0.0.1:50051.",
  });
}
