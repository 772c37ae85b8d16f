"""Available memory of the device or of this machine."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from mrlm_engine.device import free_gpu_memory

# Reserved part, for fragmentation of the allocator and other memory of the process.
MARGIN = 0.1


@dataclass(frozen=True)
class Available:
    """Bytes that one rank may use, and the source of the limit; 0 without a limit."""

    bytes: int
    source: str


def available_memory(device: torch.device) -> Available:
    """Returns the memory that this rank may use, less a tenth. Ranks of one machine share the memory of the host."""
    if device.type == "cuda":
        return Available(less_margin(free_gpu_memory(device)), "CUDA")
    ranks = max(1, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    limits = [Available(size // ranks, source) for size, source in host_limits()] + list(process_limits())
    if not limits:
        return Available(0, "")
    least = min(limits, key=lambda limit: limit.bytes)
    return Available(less_margin(least.bytes), least.source)


def host_limits(root: Path = Path("/")) -> Iterator[tuple[int, str]]:
    """Yields (free bytes, source) for each limit that all processes of this machine or container share."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) << 10, "MemAvailable"
    for directory, limit, usage in cgroups(root):
        with contextlib.suppress(OSError, ValueError):
            # "max" means no limit; version 1 uses a number near 2^63.
            allowed, used = int((directory / limit).read_text()), int((directory / usage).read_text())
            if allowed < 1 << 60:
                yield max(0, allowed - used + _reclaimable(directory)), "cgroup limit"


def cgroups(root: Path) -> Iterator[tuple[Path, str, str]]:
    """Yields (directory, file of the limit, file of the usage) of this process's control groups and their parents."""
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
        # In a container the path may be that of the host. Then the mounted root is the group itself.
        for group in [Path(path), *Path(path).parents]:
            yield base / str(group).lstrip("/"), *files


def process_limits() -> Iterator[Available]:
    """Yields the limits of this process (ulimit -v, -d)."""
    try:
        import resource
    except ImportError:
        # The system is not a Unix.
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
    """Returns the bytes of cached files, which the system drops when memory is needed."""
    for line in (directory / "memory.stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def less_margin(size: int) -> int:
    """Returns the part of `size` bytes that is not kept in reserve."""
    return int(size * (1 - MARGIN))
