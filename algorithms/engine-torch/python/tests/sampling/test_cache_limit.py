"""The cache of keys and values stays within the sampler's limit, whatever waves came before."""

from __future__ import annotations

import pytest
import torch

from mrlm_engine.llama.kv_cache import KVCache
from sampling.cache_waves import TOKEN, over_limit


@pytest.mark.parametrize("seed", range(4))
def test_the_cache_never_exceeds_its_limit(seed: int) -> None:
    assert 0.2 < over_limit(seed) <= 1.0


def test_a_cache_that_keeps_its_largest_sizes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    reserve = KVCache.reserve

    def keeping(cache: KVCache, slots: int, columns: int, used: int) -> None:
        reserve(cache, max(slots, cache.slots), max(columns, cache.columns), used)

    monkeypatch.setattr(KVCache, "reserve", keeping)
    assert max(map(over_limit, range(4))) > 1.0


@pytest.mark.parametrize("rows", [1, 7, 15, 16, 17, 100, 255, 256, 257, 1000])
def test_capacity_is_at_most_an_eighth_more_than_needed(rows: int) -> None:
    cache = KVCache(2, 2, 8, torch.float32, torch.device("cpu"))
    assert rows * 64 * TOKEN <= cache.bytes_for(rows, 64) <= rows * 64 * TOKEN * 9 / 8
    cache.reserve(rows, 33, 0)
    assert sum(layer.nbytes for layer in cache.data) == cache.bytes_for(rows, 33)
