"""The cache of keys and values stays within the sampler's limit, whatever waves came before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.kv_cache import KVCache
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.scheduler import Scheduler, SchedulerLimits
from mrlm_engine.sampling.sequence import SampledSequence, SamplingSettings
from sampling.architectures import FUSED, make

# Bytes of one token: two layers of keys and values, two heads of eight float32 numbers each.
TOKEN = 2 * 2 * 2 * 8 * 4
LIMIT = 1000 * TOKEN


def over_limit(seed: int, waves: int = 5) -> float:
    """Samples `waves` of random sizes and lengths; returns the largest cache relative to the limit."""
    draw = np.random.default_rng(seed)
    model = make(FUSED["qwen2"])
    decoder = choose_decoder(model, inference_weights(model))
    assert isinstance(decoder, LlamaDecoder)
    runner = Scheduler(decoder, model.device, model.max_positions, SchedulerLimits(rows=64, state_bytes=LIMIT))
    most = 0.0
    for _ in range(waves):
        rows = int(draw.integers(1, 40))
        length, new = int(draw.integers(2, 100)), int(draw.integers(1, 24))
        runner.submit(
            SampledSequence(
                i,
                draw.integers(2, 41, max(1, length - int(draw.integers(0, 30)))),
                SamplingSettings(max_tokens=new),
                i,
                lambda _: None,
            )
            for i in range(rows)
        )
        while runner.busy:
            with torch.inference_mode():
                runner.advance(0)
            most = max(most, sum(layer.nbytes for layer in decoder._cache.data) / LIMIT)
            if draw.integers(0, 20) == 0:
                runner.interrupt(0)
    return most


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
