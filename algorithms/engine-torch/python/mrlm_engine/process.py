"""What the engine's process sets up before torch is imported."""

from __future__ import annotations

import ctypes
import os

# glibc's mallopt parameters with the values they are given.
_MALLOPT = (
    # Freed memory is not returned to the system.
    (-1, (1 << 31) - 1),  # M_TRIM_THRESHOLD
    # The heap grows in steps of 64 MiB.
    (-2, 64 << 20),  # M_TOP_PAD
    # Tensors come from the heap. Some versions refuse more than 32 MiB.
    (-3, 32 << 20),  # M_MMAP_THRESHOLD
    # Threads share one heap: those of gRPC's pool would each keep their own, in pieces of at most 64 MiB.
    (-8, 1),  # M_ARENA_MAX
)
# How often an idle OpenMP thread looks for work before it sleeps: some tenths of a millisecond, longer than the pauses
# between two operations of a pass, shorter than those between two passes.
_SPINS = 20_000
# Kernels that oneDNN keeps compiled; each takes 0.6 MiB, and its own limit of 1024 would be most of a small engine.
_KERNELS = 256


def prepare_process() -> None:
    """Keeps idle threads asleep and freed memory in the process. Must run before the first import of torch.

    By default idle OpenMP threads spin for long, which costs CPU time while nothing is computed. Where they sleep at
    once, waking them is what costs it: a fifth of sampling from a model of 27M parameters. Every tensor above 128 KiB
    is mapped and unmapped afresh: 200,000 page faults in a training step of a 1M-parameter model, a tenth of its time.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("GOMP_SPINCOUNT", str(_SPINS))
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(_KERNELS))
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        # Not glibc.
        return
    for parameter, value in _MALLOPT:
        mallopt(parameter, value)
