"""How much memory there is, on the device or on this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

# Part that is kept in reserve: fragments of the allocator, and what else the process does.
MARGIN = 0.1


@dataclass(frozen=True)
class Available:
    """Bytes that one rank may take, and who says so; 0 where nobody does."""

    bytes: int
    source: str


def available_memory(device: torch.device) -> Available:
    """What this rank may take, a tenth kept in reserve. Ranks of one machine share what there is on the host."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        # Of what the allocator holds, that which no tensor uses is free too.
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return Available(_less_margin(free + cached), "CUDA")
    ranks = max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    limits = [Available(size // ranks, source) for size, source in host_limits()] + list(process_limits())
    if not limits:
        return Available(0, "")
    least = min(limits, key=lambda limit: limit.bytes)
    return Available(_less_margin(least.bytes), least.source)


def host_limits(root: Path = Path("/")) -> Iterator[tuple[int, str]]:
    """(free bytes, source) for everything that limits the processes of this machine or container together."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) << 10, "MemAvailable"
    for directory, limit, usage in cgroups(root):
        with contextlib.suppress(OSError, ValueError):
            # "max" is no limit; version 1 says a number near 2^63.
            allowed, used = int((directory / limit).read_text()), int((directory / usage).read_text())
            if allowed < 1 << 60:
                yield max(0, allowed - used + _reclaimable(directory)), "cgroup limit"


def cgroups(root: Path) -> Iterator[tuple[Path, str, str]]:
    """(directory, file of the limit, file of the usage) of this process's control groups and those around them."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        base = root / ("sys/fs/cgroup/memory" if controllers else "sys/fs/cgroup")
        files = ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
        # In a container the path may be that of the host, and the mounted root is the group itself.
        for group in [Path(path), *Path(path).parents]:
            yield base / str(group).lstrip("/"), *files


def process_limits() -> Iterator[Available]:
    """Limits of this process alone (ulimit -v, -d)."""
    try:
        import resource
    except ImportError:
        # Not a Unix.
        return
    for name, field in (("RLIMIT_AS", "VmSize"), ("RLIMIT_DATA", "VmData")):
        limit, _ = resource.getrlimit(getattr(resource, name))
        if limit == resource.RLIM_INFINITY:
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith(f"{field}:"):
                    yield Available(max(0, limit - (int(line.split()[1]) << 10)), name)


def _reclaimable(directory: Path) -> int:
    """Cached files that the system drops when memory is needed."""
    for line in (directory / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def _less_margin(size: int) -> int:
    return int(size * (1 - MARGIN))
