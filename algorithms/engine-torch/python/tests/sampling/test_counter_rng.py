from __future__ import annotations

import numpy as np

from mrlm_engine.sampling.counter_rng import keyed_uniform

MASK = (1 << 64) - 1


def reference(key: int, position: int) -> float:
    """Returns the same generator on Python's integers."""

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
        return z ^ (z >> 31)

    gamma = 0x9E3779B97F4A7C15
    state = mix((key + gamma) & MASK) + (position + 1) * gamma
    return (mix(state & MASK) >> 11) / 2**53


def test_numerics_56_a_draw_depends_on_key_and_position_alone() -> None:
    keys = np.array([0, 1, 2**63 + 5, MASK], np.uint64)
    positions = np.array([0, 1, 1000, 2**31], np.int64)
    table = keyed_uniform(keys[:, None], positions[None])
    expected = [[reference(int(k), int(p)) for p in positions] for k in keys]
    assert table.tolist() == expected
    assert keyed_uniform(keys[2:], positions[2:]).tolist() == [expected[2][2], expected[3][3]]


def test_draws_are_uniform_and_neighbouring_keys_are_unrelated() -> None:
    table = keyed_uniform(np.arange(400, dtype=np.uint64)[:, None], np.arange(500)[None])
    assert table.min() >= 0
    assert table.max() < 1
    counts = np.histogram(table, bins=50, range=(0, 1))[0]
    expected = table.size / 50
    # Chi-squared with 49 degrees of freedom: below 100 but for one table in 40,000.
    assert ((counts - expected) ** 2 / expected).sum() < 100
    assert abs(np.corrcoef(table[:-1].ravel(), table[1:].ravel())[0, 1]) < 0.01
    assert abs(np.corrcoef(table[:, :-1].ravel(), table[:, 1:].ravel())[0, 1]) < 0.01


def test_keys_that_differ_by_the_increment_do_not_share_a_stream() -> None:
    keys = np.array([7, 7 + 0x9E3779B97F4A7C15], np.uint64)
    one, other = keyed_uniform(keys[:, None], np.arange(50)[None])
    assert not set(one) & set(other)
