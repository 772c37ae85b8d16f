"""Sampling and learning by the engine's own code on the fake GPU: small models for faults, real sizes for memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from transformers import AutoConfig

from fake_gpu.device import fake_device
from mrlm_engine.backbone.packed_attention import PACKED
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.decoding.protocol import Decoder
from mrlm_engine.decoding.transformers_decoder import ModuleDecoder
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.shape import llama_shape
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.memory.shape import empty_model
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.lora import inject_adapter
from mrlm_engine.models.value_head import ValueHead
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import batch as batch_module
from mrlm_engine.sampling.batch import Batch
from mrlm_engine.sampling.sequence import SampledSequence, SamplingSettings
from mrlm_engine.training import trainable_model
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.trainable_model import TrainableModel

SMALL: dict[str, Any] = {
    "vocab_size": 5000,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "tie_word_embeddings": True,
}
MIXTURE = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16}
SETTINGS = (
    SamplingSettings(max_tokens=4, stop_token_ids=(3, 4)),
    SamplingSettings(temperature=0.7, max_tokens=7, min_tokens=3, stop_token_ids=(5,)),
    SamplingSettings(temperature=0, max_tokens=5),
    SamplingSettings(temperature=0.9, top_p=0.8, max_tokens=9),
    SamplingSettings(top_k=5, max_tokens=6, stop_token_ids=(6, 7, 8)),
)
LORA: dict[str, Any] = {"rank": 16, "alpha": 32.0, "dropout": 0.0, "target_modules": [], "seed": 0}
ADAMW = AdamWParameters(1e-4, 0.9, 0.999, 1e-8, 0.01)


class GivenCopy:
    """Substitute for HostCopy, which needs a CUDA event: tokens of a generator. Counts its instances."""

    made = 0

    def __init__(self, tensor: torch.Tensor) -> None:
        GivenCopy.made += 1
        tokens = np.random.default_rng(GivenCopy.made).integers(10, 60, tensor.shape[1], dtype=np.int32)
        self._numbers = np.stack((tokens, np.full(tensor.shape[1], -1.0, np.float32).view(np.int32)))

    def numpy(self) -> np.ndarray[Any, Any]:
        return self._numbers


@contextlib.contextmanager
def gpu_branches() -> Iterator[None]:
    """Leaves out what needs numbers: the choice of a backbone by a probe, and CUDA's events."""
    GivenCopy.made = 0
    backbone = mock.patch.object(trainable_model, "choose_backbone", module_backbone)
    with backbone, mock.patch.object(batch_module, "HostCopy", GivenCopy):
        yield


def module_backbone(model: LoadedModel) -> TransformersBackbone:
    """Returns the backbone of a GPU with the layout that the probe chooses for these families."""
    backbone = TransformersBackbone(model)
    backbone.layout = Layout.PACKED
    model.module.set_attn_implementation(PACKED)
    return backbone


def make_model(kind: str, *, lora: bool = False, fields: dict[str, Any], **settings: Any) -> LoadedModel:
    """Returns a trainable bfloat16 model on the fake GPU. Call it inside `fake_gpu()`."""
    config = AutoConfig.for_model(kind, **fields)
    # peft moves layers in a way that fake tensors refuse.
    with unset_fake_temporarily():
        module = empty_model(config, torch.bfloat16)
        if lora:
            inject_adapter(module, LORA)
    return LoadedModel(
        "policy",
        1,
        on_device(module, fake_device()).eval(),
        config,
        torch.bfloat16,
        fake_device(),
        trainable=True,
        lora=LORA if lora else None,
        **settings,
    )


def on_device(module: Any, device: torch.device) -> Any:
    """Gives a module without memory tensors of `device`; tied weights stay one."""
    made: dict[int, torch.Tensor] = {}
    for part in module.modules():
        for name, parameter in part.named_parameters(recurse=False):
            memory = torch.empty(parameter.shape, dtype=parameter.dtype, device=device)
            tensor = made.setdefault(id(parameter), torch.nn.Parameter(memory, parameter.requires_grad))
            setattr(part, name, tensor)
        for name, buffer in part.named_buffers(recurse=False):
            setattr(part, name, torch.empty(buffer.shape, dtype=buffer.dtype, device=device))
    return module


def make_decoder(model: LoadedModel) -> Decoder:
    """Returns the decoder that the engine takes for the model."""
    shape = llama_shape(model.module)
    if shape is None:
        return ModuleDecoder(model.module, float32_head=model.float32_head)
    rotary = model.module.model.rotary_emb
    return LlamaDecoder(shape, inference_weights(model), rotary, float32_head=model.float32_head)


def sample(decoder: Decoder) -> int:
    """Samples two waves that overlap, with a sequence removed between them; returns the number of steps."""
    batch = Batch(decoder, fake_device(), 512)
    draw = np.random.default_rng(0)
    sequences = [
        SampledSequence(i, draw.integers(2, 99, 3 + i % 2), SETTINGS[i % len(SETTINGS)], i, lambda _: None)
        for i in range(8)
    ]
    batch.enter(sequences[:5])
    steps = 0
    while batch.sequences:
        batch.advance(0)
        steps += 1
        if steps == 2:
            batch.enter(sequences[5:])
        if steps == 3:
            leaving = np.zeros(len(batch.sequences), np.bool_)
            leaving[0] = True
            batch.remove(leaving, 0)
    return steps


def unit_of(
    lengths: list[tuple[int, int]], *, entropy: bool = False, value: bool = False, common: bool = False
) -> TokenUnit:
    """Returns one unit of sequences with (prompt, answer) tokens, and gradients for each answer token.

    The prompts are one prompt if `common`, otherwise they have no common prefix.
    """
    rows = []
    for number, (prompt, answer) in enumerate(lengths, 1):
        tokens = np.full(prompt + answer, number, np.int32)
        tokens[:prompt] = 0 if common else number
        rows.append(TokenSequence(tokens, np.arange(prompt, prompt + answer)))
    ones = np.ones(sum(n for _, n in lengths), np.float32)
    return TokenUnit(0, tuple(rows), UnitGradients(ones, ones if entropy else None, ones if value else None))


def learn(model: LoadedModel, unit: TokenUnit, *, entropy: bool = False, value: bool = False) -> None:
    """Makes one pass over `unit`, and an optimizer step."""
    if value:
        model.value_head = ValueHead(int(model.config.hidden_size), model.device)
    trainable = TrainableModel(model)
    trainable.begin_pass()
    learn_pass(trainable, unit, Selection(True, entropy, value, value, 0.7))
    trainable.commit_pass()
    trainable.step(ADAMW, 1.0)


def learn_pass(trainable: TrainableModel, unit: TokenUnit, selection: Selection) -> None:
    """Computes outputs and gradients of one micro-batch."""
    micro_batch = MicroBatch(trainable, [unit], selection, keep_graph=True)
    micro_batch.outputs()
    assert unit.gradients is not None
    micro_batch.backward([unit.gradients], 3.0)
