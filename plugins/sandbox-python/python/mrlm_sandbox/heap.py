"""How the zygote's memory is left for those who are forked from it: a page that a runner writes to is copied, which takes two microseconds, and each one that is there takes part of one."""

import gc

from . import kernel

# CPython's allocator keeps blocks of one size, up to 512 bytes, in pools of this size and alignment (Objects/obmalloc.c).
_POOL_BYTES = 1 << 14
_LARGEST = 512
_STEP = 16
# What lies before the first block of a pool.
_POOL_HEADER = 64
# Should an interpreter place them in another way.
_MOST_BLOCKS = 20_000

_kept = []


def settle():
    gc.collect()
    _fill_pools()
    gc.freeze()
    # What `free` has kept.
    kernel.trim_heap()


def _fill_pools():
    """What a runner allocates then lies together in new pools, and not in the gaps of hundreds of pages."""
    for size in range(_LARGEST, bytes.__basicsize__, -_STEP):
        for _ in range(_MOST_BLOCKS):
            block = bytes(size - bytes.__basicsize__)
            if id(block) % _POOL_BYTES < _POOL_HEADER:
                break
            _kept.append(block)
