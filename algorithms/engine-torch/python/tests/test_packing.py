"""Packed rows compute what padded rows do, and no sequence reads its neighbours."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
import torch
from tiny import create_model, create_request
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from mrlm_engine.backbone import packed_attention
from mrlm_engine.backbone.choose_layout import choose_layout, probe_units
from mrlm_engine.backbone.packed_attention import PACKED
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.batching.packed_layout import packed_layout
from mrlm_engine.batching.prefix_layout import packed_size
from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.llama.probe import tolerance
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models import ModelRegistry
from mrlm_engine.models.loaded_model import LoadedModel
from mrlm_engine.models.placement import Placement
from mrlm_engine.training import trainable_model
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel

BASE: dict[str, Any] = {
    "vocab_size": 97,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.1,
}
# Windows are shorter than most sequences.
FAMILIES: dict[str, dict[str, Any]] = {
    "qwen2": {},
    "qwen3": {"head_dim": 16},
    "llama": {},
    "mistral": {"sliding_window": 8},
    # Two kinds of layers.
    "gemma3_text": {"head_dim": 16, "sliding_window": 8, "layer_types": ["sliding_attention"] * 2 + ["full_attention"]},
    "phi3": {"pad_token_id": 0},
    "qwen3_moe": {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "head_dim": 16},
    "olmo2": {},
}
SELECTION = Selection(True, False, False, False)
Gradients = dict[str, torch.Tensor]


def model_of(kind: str, fields: dict[str, Any] | None = None, **request: Any) -> LoadedModel:
    config = json.dumps({"model_type": kind, **(BASE if fields is None else fields), **FAMILIES.get(kind, {})})
    return create_model(create_request("policy", config, **request), ModelRegistry(), Placement(torch.device("cpu")))


def module_backbone(model: LoadedModel) -> TransformersBackbone:
    """Returns the backbone of a GPU."""
    backbone = TransformersBackbone(model)
    backbone.layout = choose_layout(backbone, tolerance(model.dtype, 3))
    return backbone


def group(seed: int = 0) -> list[TokenUnit]:
    """Returns a unit of three answers to one prompt and two units of single sequences."""
    draw = np.random.default_rng(seed)
    prompt = draw.integers(2, 97, 14)
    answers = [np.concatenate((prompt, draw.integers(2, 97, n))).astype(np.int32) for n in (26, 9, 1)]
    alone = [draw.integers(2, 97, n).astype(np.int32) for n in (2, 33)]
    return [
        TokenUnit(0, tuple(TokenSequence(tokens, np.arange(14, len(tokens))) for tokens in answers)),
        *(TokenUnit(i, (TokenSequence(one, np.arange(1, len(one))),)) for i, one in enumerate(alone, 1)),
    ]


def learn(trainable: TrainableModel, layout: Layout, units: list[TokenUnit]) -> tuple[np.ndarray[Any, Any], Gradients]:
    """Returns the log-probabilities, and the gradients of their weighted sum."""
    assert isinstance(trainable.backbone, TransformersBackbone)
    trainable.backbone.layout = layout
    trainable.begin_pass()
    micro_batch = MicroBatch(trainable, units, SELECTION, keep_graph=True)
    outputs = [unit.logprob for unit in micro_batch.outputs()]
    draw = np.random.default_rng(1)
    weights = [draw.standard_normal(unit.outputs).astype(np.float32) for unit in units]
    micro_batch.backward([UnitGradients(weight) for weight in weights], 10.0)
    trainable.commit_pass()
    found = {name: gradient.clone() for name, _, gradient in trainable.gradients.tensors()}
    trainable.clear()
    return np.concatenate([one for one in outputs if one is not None]), found


def worst(found: Gradients, expected: Gradients) -> float:
    """Returns the largest difference, relative to the largest entry of each gradient."""
    assert found.keys() == expected.keys()
    return max(
        float((found[name] - expected[name]).abs().max() / expected[name].abs().max().clamp_min(1e-12))
        for name in expected
    )


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainable_model, "choose_backbone", module_backbone)


@pytest.mark.parametrize("kind", FAMILIES)
def test_numerics_37_packed_rows_are_padded_rows(kind: str) -> None:
    trainable = TrainableModel(model_of(kind))
    assert isinstance(trainable.backbone, TransformersBackbone)
    assert trainable.backbone.layout is Layout.PACKED
    expected, gradients = learn(trainable, Layout.MASKED, group())
    for layout in (Layout.PACKED, Layout.PADDED):
        found, packed = learn(trainable, layout, group())
        assert np.abs(found - expected).max() <= 2e-6 * max(1.0, np.abs(expected).max())
        assert worst(packed, gradients) <= 2e-6


@pytest.mark.parametrize("kind", ["qwen2", "gemma3_text", "qwen3_moe"])
def test_numerics_37_a_changed_neighbour_changes_nothing(kind: str) -> None:
    trainable = TrainableModel(model_of(kind))
    units, others = group(), group(seed=9)
    for changed in range(3):
        mixed = [others[i] if i == changed else unit for i, unit in enumerate(units)]
        micro_batches = [MicroBatch(trainable, some, SELECTION, keep_graph=False) for some in (units, mixed)]
        first, second = (micro_batch.outputs() for micro_batch in micro_batches)
        for index in {0, 1, 2} - {changed}:
            one, other = first[index].logprob, second[index].logprob
            assert one is not None
            assert other is not None
            # The experts' products have other numbers of rows.
            assert np.abs(one - other).max() <= (2e-6 if kind == "qwen3_moe" else 0.0)


def test_a_row_has_no_padding_and_a_common_prompt_once() -> None:
    layout = packed_layout(group(), False, torch.device("cpu"))
    # 14 of the prompt, 25 + 8 of answers whose last tokens no output reads, 1 and 32 alone; the third answer has none.
    assert layout.computed_tokens == 14 + 25 + 8 + 1 + 32
    assert layout.packed.spans[1] == (14, 39, 0, 14, 14)
    assert layout.packed.key_rows is not None
    assert len(layout.packed.key_rows) == 14 + (14 + 25) + (14 + 8) + 1 + 32


def test_keys_of_a_common_prompt_take_budget_for_each_answer() -> None:
    backbone = TransformersBackbone(model_of("qwen2"))
    unit = group()[0]
    backbone.layout = Layout.PACKED
    # Two answers read the 14 keys. A key and value are 64 numbers of the 1,088 that a layer keeps for a token.
    assert backbone.token_cost(unit, False) == 14 + 25 + 8 + 2
    backbone.layout = Layout.PADDED
    assert backbone.token_cost(unit, False) == 3 * 39
    for seed in range(5):
        units = group(seed)
        for final_value in (False, True):
            layout = packed_layout(units, final_value, torch.device("cpu"))
            sizes = [packed_size(one, final_value) for one in units]
            assert (layout.computed_tokens, layout.keys) == tuple(map(sum, zip(*sizes, strict=True)))


def test_attention_that_sees_its_neighbours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    attention = packed_attention.packed_attention

    def leaking(layer: Any, query: Any, key: Any, value: Any, mask: Any, packed_rows: Any = None, **others: Any) -> Any:
        if packed_rows is not None:
            end = max(end for _, end, *_ in packed_rows.spans)
            packed_rows = dataclasses.replace(packed_rows, spans=((0, end, 0, 0, 0),), windows=packed_rows.windows)
        return attention(layer, query, key, value, mask, packed_rows=packed_rows, **others)

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS, PACKED, leaking)
    model = model_of("qwen2")
    assert module_backbone(model).layout is Layout.PADDED
    assert model.config._attn_implementation == "sdpa"


def test_models_with_states_are_padded_without_a_mask() -> None:
    config = {
        "vocab_size": 97,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "state_size": 8,
        "num_heads": 4,
        "head_dim": 16,
        "n_groups": 1,
    }
    assert module_backbone(model_of("mamba2", config)).layout is Layout.PADDED


def test_a_model_that_sees_its_padding_keeps_the_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of("qwen2")
    model.config._attn_implementation = "eager"
    monkeypatch.setattr(model.config, "is_causal", False, raising=False)
    assert module_backbone(model).layout is Layout.MASKED


def test_a_module_with_packed_attention_computes_other_calls_as_before() -> None:
    model = model_of("gemma3_text")
    tokens = torch.arange(60).view(2, 30) % 97
    mask = torch.ones_like(tokens)
    mask[1, 20:] = 0
    with torch.no_grad():
        expected = model.module(input_ids=tokens, attention_mask=mask).logits
        assert module_backbone(model).layout is Layout.PACKED
        assert torch.equal(model.module(input_ids=tokens, attention_mask=mask).logits, expected)
    assert "mrlm" not in model.config.to_json_string()


def test_the_probe_has_padding_neighbours_and_a_common_prefix() -> None:
    units = probe_units(model_of("qwen2"))
    layout = packed_layout(units, False, torch.device("cpu"))
    assert layout.packed.key_rows is not None
    assert len({len(sequence.tokens) for unit in units for sequence in unit.sequences}) == 4


def test_layers_with_a_bias_of_their_own_are_padded() -> None:
    # At first the bias of Doge is 0, so that no state would show that it is lost.
    assert module_backbone(model_of("doge")).layout is not Layout.PACKED


def test_a_call_that_packed_rows_would_ignore_is_refused() -> None:
    layout = packed_layout(group(), False, torch.device("cpu"))
    unread = packed_attention.packed_inputs(layout.packed, torch.device("cpu"))["attention_mask"]
    heads = torch.zeros(1, 2, layout.computed_tokens, 8)

    def attend(mask: torch.Tensor | None = unread, **others: Any) -> None:
        packed_attention.packed_attention(None, heads, heads, heads, mask, packed_rows=layout.packed, **others)

    attend(dropout=0.0, position_ids=layout.positions, is_causal=True)
    for mask in (None, torch.zeros(1, 1, 80, 80)):
        with pytest.raises(LookupError, match="masks of their own"):
            attend(mask)
    for others in (
        {"softcap": 30.0},
        {"s_aux": torch.zeros(2)},
        {"position_bias": torch.zeros(1)},
        {"is_causal": False},
    ):
        with pytest.raises(LookupError, match=next(iter(others))):
            attend(**others)


def test_a_gpu_without_a_kernel_for_the_heads_does_not_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    meta = torch.device("meta")
    layout = packed_layout(group(), False, torch.device("cpu"))
    layout.packed.widths.add((4, 2, 24, 16))
    layout.packed.windows.update((0, 8))
    seen = []

    def kernel(query: Any, key: Any, value: Any, *_: Any, window_size: Any, enable_gqa: bool) -> Any:
        seen.append((tuple(query.shape), tuple(value.shape), window_size, enable_gqa))
        return query[..., :16] + value.repeat_interleave(2, 1)

    monkeypatch.setattr(packed_attention, "varlen_attn", kernel)
    with torch.no_grad():
        assert packed_attention.kernel_takes(layout.packed, meta, torch.bfloat16)
    assert sorted(seen) == [((8, 4, 24), (8, 2, 16), (-1, 0), True), ((8, 4, 24), (8, 2, 16), (7, 0), True)]

    def refusing(*_: Any, **__: Any) -> Any:
        raise RuntimeError("the widths of keys and values must be equal")

    monkeypatch.setattr(packed_attention, "varlen_attn", refusing)
    assert not packed_attention.kernel_takes(layout.packed, meta, torch.bfloat16)
    # Float32 and a CPU take no kernel.
    assert packed_attention.kernel_takes(layout.packed, meta, torch.float32)
    assert packed_attention.kernel_takes(layout.packed, torch.device("cpu"), torch.bfloat16)
