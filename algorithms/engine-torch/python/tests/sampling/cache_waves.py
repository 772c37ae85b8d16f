"""Waves of sequences that fill the cache of keys and values."""

from __future__ import annotations

import numpy as np
import torch

from mrlm_engine.llama.decoder import LlamaDecoder
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
