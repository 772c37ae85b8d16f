"""Learning by the work of ranks, as rank 0 lets every rank of an engine do it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch.distributed as dist
from numpy.typing import NDArray
from tiny import LLAMA, QWEN2, create_request

from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.compute.tensors import part, whole, whole_like
from mrlm_engine.device import choose_device
from mrlm_engine.logprobs.selection import Selection, UnitOutputs
from mrlm_engine.models.rebuild import named_tensors
from mrlm_engine.service import rank_models
from mrlm_engine.service.codec.models import model_request
from mrlm_engine.service.state import EngineState
from mrlm_engine.settings import EngineSettings
from mrlm_engine.training import rank_work
from mrlm_engine.training.optimizer import AdamWParameters

Floats = NDArray[np.float32]
QWEN3: dict[str, Any] = {**QWEN2, "model_type": "qwen3", "head_dim": 8, "num_key_value_heads": 4}
MISTRAL: dict[str, Any] = {**LLAMA, "model_type": "mistral", "sliding_window": 9}
MOE: dict[str, Any] = {
    **QWEN3,
    "model_type": "qwen3_moe",
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "tie_word_embeddings": False,
}
ADAMW = AdamWParameters(1e-3, 0.9, 0.999, 1e-8, 0.01)
SELECTION = Selection(logprob=True, entropy=True, value=True, final_value=False)


@dataclass
class Learnt:
    """Outputs of the first and of the last step's units, gradients of the first pass, norms of all steps, and the last
    weights.
    """

    outputs: list[UnitOutputs] = field(default_factory=list)
    last_outputs: list[UnitOutputs] = field(default_factory=list)
    gradients: dict[str, Floats] = field(default_factory=dict)
    norms: list[float] = field(default_factory=list)
    weights: dict[str, Floats] = field(default_factory=dict)
    computed_tokens: int = 0


def make_state(sizes: tuple[int, int, int], strategy: str = "ddp") -> EngineState:
    """Returns the state of this rank."""
    is_alone = not dist.is_initialized()
    settings = EngineSettings(strategy=strategy, parallel=None if is_alone else sizes)
    return EngineState(settings, choose_device("cpu", "deterministic", 0 if is_alone else 1))


def create(state: EngineState, config: dict[str, Any], **fields: Any) -> None:
    request = create_request("policy", json.dumps(config), **{"value_head": True, **fields})
    rank_models.create(state, model_request(request))


def units_of(step: int, groups: int = 3, longest: int = 14) -> list[TokenUnit]:
    """Returns groups of one prompt each, of unequal sizes and lengths."""
    random = np.random.default_rng(step)
    units = []
    for index in range(groups):
        prompt = random.integers(2, 41, int(random.integers(2, 12)))
        sequences = []
        for _ in range(int(random.integers(1, 4))):
            answer = random.integers(2, 41, int(random.integers(1, longest)))
            tokens = np.concatenate((prompt, answer)).astype(np.int32)
            sequences.append(TokenSequence(tokens, np.arange(len(prompt), len(tokens))))
        units.append(TokenUnit(index, tuple(sequences)))
    return units


def loss_gradients(outputs: UnitOutputs) -> UnitGradients:
    assert outputs.logprob is not None
    assert outputs.entropy is not None
    assert outputs.value is not None
    return UnitGradients(
        -0.5 * np.exp(0.5 * outputs.logprob), np.full_like(outputs.entropy, -0.01), 0.1 * (outputs.value - 1)
    )


def learn(state: EngineState, steps: range, groups: int = 3) -> Learnt:
    """Runs passes and optimizer steps on this rank, with its own part of each."""
    learnt = Learnt()
    trainable = state.trainable_model("policy")
    mesh = state.placement.mesh
    sizes = (dist.get_world_size() if dist.is_initialized() else 1, 1, 1)
    if mesh is not None:
        sizes = mesh.data, mesh.context, mesh.tensor
    rank = dist.get_rank() if dist.is_initialized() else 0
    for step in steps:
        units = units_of(step, groups)
        normalizer = float(sum(unit.outputs for unit in units))
        rank_work.begin_pass(state, "policy")
        outputs: dict[int, UnitOutputs] = {}
        for number, shards in enumerate(trainable.plan(units, False, sizes[0])):
            shard = shards[rank // (sizes[1] * sizes[2])]
            passes = max(len(trainable.pieces(each, False, once=False)) for each in shards)
            computed = rank_work.launch(state, "policy", number, shard, SELECTION, passes)
            found = [loss_gradients(each) for each in computed.outputs]
            rank_work.backward(state, "policy", number, found, normalizer)
            outputs |= {unit.index: each for unit, each in zip(shard, computed.outputs, strict=True)}
            learnt.computed_tokens += computed.computed_tokens
        rank_work.commit_pass(state, "policy")
        learnt.last_outputs = [outputs.get(unit.index, UnitOutputs()) for unit in units]
        if step == steps.start:
            learnt.outputs = learnt.last_outputs
            learnt.gradients = {
                name: whole_like(part(gradient), gradient).float().numpy().copy()
                for name, _, gradient in trainable.gradients.tensors()
            }
        learnt.norms.append(rank_work.optim_step(state, "policy", ADAMW, 1.0).grad_norm)
    learnt.weights = weights_of(state)
    return learnt


def weights_of(state: EngineState) -> dict[str, Floats]:
    """Returns the whole weights."""
    tensors = named_tensors(state.registry.get("policy").module)
    return {name: whole(tensor).float().numpy().copy() for name, tensor in tensors.items()}


def train(sizes: tuple[int, int, int], strategy: str, config: dict[str, Any], steps: int, **fields: Any) -> Learnt:
    """Creates a policy and trains it on this rank."""
    state = make_state(sizes, strategy)
    create(state, config, **fields)
    return learn(state, range(steps))


def differences(found: list[Learnt], expected: Learnt) -> dict[str, float]:
    """Returns the largest differences of the ranks to one rank: of outputs, of gradients relative to the largest entry
    of each, of norms relative to them, and of weights.

    A unit's outputs are compared on each rank that has computed it, which is one at least.
    """
    result = dict.fromkeys(("outputs", "last_outputs", "gradients", "weights", "norms"), 0.0)

    def note(name: str, difference: Floats, scale: float = 1.0) -> None:
        result[name] = max(result[name], float(np.abs(difference).max()) / scale)

    for name in ("outputs", "last_outputs"):
        for index, wanted in enumerate(getattr(expected, name)):
            units = [getattr(learnt, name)[index] for learnt in found]
            computed = [unit for unit in units if unit.logprob is not None]
            assert computed
            for unit in computed:
                for kind in ("logprob", "entropy", "value"):
                    note(name, getattr(unit, kind) - getattr(wanted, kind))
    for learnt in found:
        assert learnt.gradients.keys() == expected.gradients.keys()
        for key, gradient in expected.gradients.items():
            note("gradients", learnt.gradients[key] - gradient, max(float(np.abs(gradient).max()), 1e-6))
        for key, weight in expected.weights.items():
            note("weights", learnt.weights[key] - weight)
        note("norms", np.divide(learnt.norms, expected.norms) - 1)
    return result
