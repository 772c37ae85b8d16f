"""Packed rows on a GPU: `varlen_attn` computes what padded rows under a mask do."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from on_gpu import CLOSE, device_or_skip, make_on
from test_packing import BASE, FAMILIES, group, learn, module_backbone

from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.training import trainable_model
from mrlm_engine.training.trainable_model import TrainableModel

DEVICE = device_or_skip()


@pytest.mark.parametrize("kind", ["qwen2", "qwen3", "mistral", "gemma3_text", "qwen3_moe"])
def test_cuda_packed_rows_are_padded_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainable_model, "choose_backbone", module_backbone)
    trainable = TrainableModel(make_on(DEVICE, {"model_type": kind, **BASE, **FAMILIES[kind]}))
    assert isinstance(trainable.backbone, TransformersBackbone)
    assert trainable.backbone.layout is Layout.PACKED
    expected, gradients = learn(trainable, Layout.MASKED, group())
    found, packed = learn(trainable, Layout.PACKED, group())
    assert np.abs(found - expected).max() <= CLOSE
    for name, gradient in gradients.items():
        if kind != "qwen3_moe" and gradient.norm() > 1e-3:
            similar = torch.nn.functional.cosine_similarity(packed[name].flatten(), gradient.flatten(), dim=0)
            assert similar > 0.97, name
