"""Heap of the zygote, prepared for forks.

The kernel copies a page when a runner writes to it, which takes two microseconds. A page that is only mapped costs 0.2
microseconds.
"""

import gc

from . import kernel

# CPython's allocator keeps blocks of one size, up to 512 bytes, in pools of this size and alignment
# (Objects/obmalloc.c).
_POOL_BYTES = 1 << 14
_LARGEST = 512
_STEP = 16
# Bytes before the first block of a pool.
_POOL_HEADER = 64
# Limit for interpreters that place blocks in another way.
_MOST_BLOCKS = 20_000

_kept: list[bytes] = []


def settle() -> None:
    """Collects garbage, fills gaps in the heap and returns unused pages, so that forks write to few shared pages."""
    gc.collect()
    _fill_pools()
    gc.freeze()
    # Return the pages that the C library keeps after `free`.
    kernel.trim_heap()


def _fill_pools() -> None:
    """Fills the gaps in all pools.

    A runner then allocates from new pools and writes to few pages, instead of hundreds.
    """
    for size in range(_LARGEST, bytes.__basicsize__, -_STEP):
        for _ in range(_MOST_BLOCKS):
            block = bytes(size - bytes.__basicsize__)
            if id(block) % _POOL_BYTES < _POOL_HEADER:
                break
            _kept.append(block)
