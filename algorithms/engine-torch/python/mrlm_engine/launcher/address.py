"""Addresses of this machine."""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
from pathlib import Path

from mrlm_engine.launcher.failure import LaunchError


def listening_address(address: str, port: int) -> str:
    """Returns the address on which machine 0 listens: `address`, or all if it is not one of this machine (NAT).

    Raises LaunchError for a port in use and for an unknown name.
    """
    try:
        family, *_, found = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as cause:
        raise LaunchError(
            "CONFIG_INVALID", f"distributed.master_addr: no address is known for {address} ({cause.strerror})."
        ) from cause
    host = str(found[0])
    every = "::" if family == socket.AF_INET6 else "0.0.0.0"
    for candidate in (host, every):
        try:
            socket.create_server((candidate, port), family=family).close()
        except OSError as cause:
            if cause.errno == errno.EADDRNOTAVAIL and candidate == host:
                continue
            if cause.errno == errno.EADDRINUSE:
                raise LaunchError(
                    "PORT_IN_USE", f"Port {port} of this machine is in use by another process."
                ) from cause
            raise LaunchError(
                "CONFIG_INVALID", f"This machine cannot listen on port {port}: {cause.strerror}."
            ) from cause
        return candidate
    raise AssertionError("the loop returns or raises")


def own_address(other: str) -> str:
    """Returns the address of this machine on the route to another one. Raises OSError without a route."""
    family, *_, address = socket.getaddrinfo(other, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        # A datagram socket sends nothing on connect. The system only selects the route.
        probe.connect(address)
        found: str = probe.getsockname()[0]
        return found


def interface_of(address: str) -> str | None:
    """Returns the network interface that has an address; None if it is not known, and on systems other than Linux."""
    if sys.platform != "linux":
        return None
    if ":" in address:
        wanted = ipaddress.ip_address(address.split("%")[0]).packed.hex()
        rows = [line.split() for line in Path("/proc/net/if_inet6").read_text("ascii").splitlines()]
        return next((row[-1] for row in rows if row[0] == wanted), None)
    import fcntl

    get_address = 0x8915  # SIOCGIFADDR
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                found = fcntl.ioctl(probe.fileno(), get_address, name.encode().ljust(256, b"\0"))
            except OSError:
                continue
            if socket.inet_ntoa(found[20:24]) == address:
                return name
    return "lo" if address.startswith("127.") else None
