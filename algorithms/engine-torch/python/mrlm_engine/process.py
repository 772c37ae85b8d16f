"""Settings of the engine's process that must be made before torch is imported."""

from __future__ import annotations

import ctypes
import os

# Parameters of glibc's mallopt with their values.
_MALLOPT = (
    # Freed memory is not returned to the system.
    (-1, (1 << 31) - 1),  # M_TRIM_THRESHOLD
    # The heap grows in steps of 64 MiB.
    (-2, 64 << 20),  # M_TOP_PAD
    # Tensors come from the heap. Some versions refuse more than 32 MiB.
    (-3, 32 << 20),  # M_MMAP_THRESHOLD
    # Threads share one heap. Otherwise each thread of gRPC's pool would keep a heap, in pieces of at most 64 MiB.
    (-8, 1),  # M_ARENA_MAX
)
# Spins of an idle OpenMP thread before it sleeps: some tenths of a millisecond, longer than the pauses between two
# operations of a pass, shorter than those between two passes.
_SPINS = 20_000
# Compiled kernels that oneDNN keeps, 0.6 MiB each. Its default limit of 1024 would be most of a small engine's memory.
_KERNELS = 256


def prepare_process() -> None:
    """Limits the spinning of idle threads and keeps freed memory in the process. Must run before torch is imported.

    By default idle OpenMP threads spin for long, which costs CPU time while nothing is computed. Threads that sleep at
    once are slow to wake: this costs a fifth of the time of sampling from a model of 27M parameters. By default every
    tensor above 128 KiB is mapped and unmapped: 200,000 page faults in a training step of a model of 1M parameters, a
    tenth of its time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", str(_SPINS))
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(_KERNELS))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        # The C library is not glibc.
        return
    for parameter, value in _MALLOPT:
        mallopt(parameter, value)
