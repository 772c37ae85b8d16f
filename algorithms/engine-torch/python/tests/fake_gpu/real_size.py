"""Memory, launches and FLOPs of models of real size on the fake GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fake_gpu.device import fake_device, fake_gpu
from fake_gpu.work import ADAMW, make_decoder, make_model, unit_of
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.sampling.batch import Batch
from mrlm_engine.sampling.sequence import SampledSequence, SamplingSettings
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel

# Qwen2.5's shapes.
_WIDTHS = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "num_key_value_heads")
_SIZES = {
    "0.5B": (896, 4864, 24, 14, 2, 151_936, True),
    "1.5B": (1536, 8960, 28, 12, 2, 151_936, True),
    "7B": (3584, 18_944, 28, 28, 4, 152_064, False),
    # 1.5B with a key for each head, as in Llama 2 and Phi-3.
    "1.5B, 12 keys": (1536, 8960, 28, 12, 12, 151_936, True),
}
SIZES: dict[str, dict[str, Any]] = {
    name: {
        **dict(zip((*_WIDTHS, "vocab_size", "tie_word_embeddings"), widths, strict=True)),
        "max_position_embeddings": 32_768,
    }
    for name, widths in _SIZES.items()
}


@dataclass(frozen=True)
class TrainingCost:
    """Bytes on the device at most, in the pass and in the optimizer step; the bytes that a graph keeps, and those that
    the engine counts for it."""

    pass_peak: int
    step_peak: int
    graph: int
    counted_graph: int
    launches: int
    flops: int
    # Tokens that the model read, what they take of the token budget, and tokens of the sequences that an output needs.
    computed_tokens: int
    token_cost: int
    real_tokens: int


def answers(rows: int, longest: int) -> list[int]:
    """Returns lengths of a group's answers, lognormal around half of the longest."""
    drawn = np.random.default_rng(0).lognormal(np.log(longest / 2), 0.6, rows)
    lengths = np.clip(drawn.astype(int), 16, longest)
    lengths[0] = longest
    return [int(length) for length in lengths]


def train(
    size: str,
    rows: int,
    longest: int,
    *,
    prompt: int = 200,
    common: bool = False,
    lora: bool = False,
    layout: Layout = Layout.PACKED,
    **settings: Any,
) -> TrainingCost:
    """Makes the second pass over a group after an optimizer step, and its step: then everything is there that stays.

    The group stands for one of several micro-batches: gradients of earlier ones are there too. Its answers have one
    prompt if `common`.
    """
    lengths = [(prompt, length) for length in answers(rows, longest)]
    unit = unit_of(lengths, common=common)
    assert unit.gradients is not None
    with fake_gpu() as watch:
        model = make_model("qwen2", lora=lora, fields=SIZES[size], **settings)
        trainable = TrainableModel(model)
        assert isinstance(trainable.backbone, TransformersBackbone)
        trainable.backbone.layout = layout
        for stage in ("step", "earlier micro-batches"):
            for _, parameter in trainable.gradients.parameters:
                trainable.gradients.accumulator(parameter)
            if stage == "step":
                trainable.accumulated_calls = 1
                trainable.step(ADAMW, 1.0)
        watch.reset()
        before = watch.live
        micro_batch = MicroBatch(trainable, [unit], Selection(True, False, False, False), keep_graph=True)
        micro_batch.outputs()
        graph, computed = watch.live - before, micro_batch.computed_tokens
        counted = micro_batch.graph_bytes
        cost = trainable.backbone.token_cost(unit, False)
        micro_batch.backward([unit.gradients], 3.0)
        del micro_batch
        trainable.commit_pass()
        launches, flops, pass_peak = watch.launches, watch.flops, watch.peak
        watch.reset()
        trainable.step(ADAMW, 1.0)
        step_peak = watch.peak
    real = sum(prompt + length - 1 for _, length in lengths)
    return TrainingCost(pass_peak, step_peak, graph, counted, launches, flops, computed, cost, real)


@dataclass(frozen=True)
class DecodingCost:
    """Launches and copies to the host of one step, and whether the rows had one age."""

    launches: float
    is_even: bool
    cache: int


def decode(size: str, rows: int, *, prompt: int = 64, uneven: bool = False, **settings: Any) -> DecodingCost:
    """Decodes some steps of groups of 16 rows; `uneven` prompts have two lengths."""
    steps = 4
    with fake_gpu() as watch, torch.no_grad():
        decoder = make_decoder(make_model("qwen2", fields=SIZES[size], **settings))
        assert isinstance(decoder, LlamaDecoder)
        batch = Batch(decoder, fake_device(), 32_768)
        draw, sampling = np.random.default_rng(0), SamplingSettings(max_tokens=1000)
        sequences = []
        for group in range(rows // 16):
            tokens = draw.integers(2, 1000, prompt - (group % 2 if uneven else 0))
            sequences += [SampledSequence(16 * group + i, tokens, sampling, i, lambda _: None) for i in range(16)]
        batch.enter(sequences)
        for _ in range(2):
            batch.advance(0)
        watch.reset()
        for _ in range(steps):
            batch.advance(0)
        cache = sum(layer.nbytes for layer in decoder._cache.data)
    return DecodingCost(watch.launches / steps, decoder._even, cache)
