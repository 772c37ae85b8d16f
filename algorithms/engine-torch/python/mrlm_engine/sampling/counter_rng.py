"""Counter-based random numbers: one for each (sequence key, position), equal on every device."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
# A double holds 53 bits, so a uniform is one of the 2^53 multiples of 2^-53 in [0, 1).
_UNUSED_BITS = np.uint64(11)
_SCALE = 2.0**-53


def keyed_uniform(keys: npt.NDArray[np.uint64], positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Returns uniform numbers in [0, 1) for `keys` and `positions`, which are broadcast.

    The number is the position-th output of a SplitMix64 generator that is seeded with the mixed key. The key is mixed
    first because clients may derive keys that differ by a multiple of the increment, and their streams would overlap.
    """
    with np.errstate(over="ignore"):
        state = _mix(keys + _GAMMA) + (positions.astype(np.uint64) + np.uint64(1)) * _GAMMA
        return (_mix(state) >> _UNUSED_BITS).astype(np.float64) * _SCALE


def _mix(z: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))
