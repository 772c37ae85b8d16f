"""Sampling as a GPU needs it: nothing waits for the device, and every operation is one of deterministic mode.

Tensors of the device `meta` have no numbers. Whatever would copy one to the host (`item`, `int`, `nonzero`, a boolean
index) raises there, and code that asks for a CPU takes its other branch, as on a GPU.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from mrlm_engine.backbone.transformers_backbone import TransformersBackbone
from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.compute.transfer import to_device
from mrlm_engine.decoding.protocol import Decoder
from mrlm_engine.decoding.transformers_decoder import ModuleDecoder
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.shape import llama_shape
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import batch as batch_module
from mrlm_engine.sampling import inverse_cdf as inverse_cdf_module
from mrlm_engine.sampling import uniform_block
from mrlm_engine.sampling.batch import Batch
from mrlm_engine.sampling.cumulative import cumulative_sums, integer_sums
from mrlm_engine.sampling.inverse_cdf import BLOCK, inverse_cdf
from mrlm_engine.sampling.sampling_plan import SamplingPlan
from mrlm_engine.sampling.sequence import SampledSequence, SamplingSettings
from mrlm_engine.training.micro_batch import MicroBatch
from mrlm_engine.training.trainable_model import TrainableModel
from sampling.architectures import BY_MODULE, FUSED, MIXTURE, make
from sampling.calls import prompts

pytestmark = pytest.mark.slow

META = torch.device("meta")
# Operations that torch refuses on CUDA under use_deterministic_algorithms, of those that such models could contain; a
# cumulative sum only of floating-point numbers.
REFUSED = {"put_", "put", "histc", "bincount", "kthvalue", "median", "cumsum", "cumprod", "nll_loss2d_forward"}
# Copies to the host that wait for the device.
WAITING = {"_local_scalar_dense", "nonzero", "masked_select", "is_nonzero", "equal", "unique_dim", "_unique2"}


class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Names of the operations that were called, and those of them that deterministic mode refuses on CUDA."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names: set[str] = set()
        self.refused: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.name().removeprefix("aten::").split(".")[0]
        self.names.add(name)
        floats = not isinstance(args[0], torch.Tensor) or args[0].is_floating_point() if args else True
        if name in REFUSED and floats:
            self.refused.add(name)
        return func(*args, **(kwargs or {}))


class GivenCopy:
    """Substitute for HostCopy with random tokens of a vocabulary of 41. Counts its instances."""

    made = 0

    def __init__(self, tensor: torch.Tensor) -> None:
        assert tensor.device.type == "meta"
        assert tensor.shape[0] == 2
        GivenCopy.made += 1
        generator = np.random.default_rng(GivenCopy.made)
        logprobs = np.full(tensor.shape[1], -1.0, np.float32).view(np.int32)
        self._numbers = np.stack((generator.integers(0, 41, tensor.shape[1], np.int32), logprobs))

    def numpy(self) -> np.ndarray[Any, Any]:
        return self._numbers


@pytest.fixture
def _given(monkeypatch: pytest.MonkeyPatch) -> None:
    GivenCopy.made = 0
    monkeypatch.setattr(batch_module, "HostCopy", GivenCopy)


def meta_decoder(name: str, config: dict[str, Any]) -> Decoder:
    model = make(config)
    if name in FUSED:
        weights = {key: tensor.to(META) for key, tensor in inference_weights(model).items()}
        shape = llama_shape(model.module)
        assert shape is not None
        return LlamaDecoder(shape, weights, copy.deepcopy(model.module.model.rotary_emb).to(META))
    return ModuleDecoder(copy.deepcopy(model.module).to(META))


SETTINGS = (
    SamplingSettings(max_tokens=9, stop_token_ids=(3, 4)),
    SamplingSettings(temperature=0.7, max_tokens=20, min_tokens=3, stop_token_ids=(5,)),
    SamplingSettings(temperature=0, max_tokens=7),
    SamplingSettings(temperature=0.9, top_p=0.8, max_tokens=30),
    SamplingSettings(top_k=5, max_tokens=13, stop_token_ids=(6, 7, 8)),
)
# A mixture of experts of transformers asks the device how many tokens each expert has.
ON_META = {name: config for name, config in {**FUSED, **BY_MODULE}.items() if config is not MIXTURE}


@pytest.mark.usefixtures("_given")
@pytest.mark.parametrize("name", ON_META)
@torch.inference_mode()
def test_cuda_nothing_but_the_drawn_tokens_is_waited_for(name: str) -> None:
    finished: list[SampledSequence] = []

    def sequence(number: int, prompt: list[int]) -> SampledSequence:
        tokens = np.asarray(prompt, np.int64)
        return SampledSequence(number, tokens, SETTINGS[number % len(SETTINGS)], number, lambda _: None)

    entering = [sequence(i, prompt) for i, prompt in enumerate(prompts(12, 41))]
    batch = Batch(meta_decoder(name, ON_META[name]), META, 128)
    steps = 0
    with Recorder() as recorder:
        batch.enter(entering[:5])
        while batch.sequences:
            finished += [ended.sequence for ended in batch.advance(0)]
            steps += 1
            if steps == 4:
                batch.enter(entering[5:])
            if steps == 6:
                leaving = np.zeros(len(batch.sequences), np.bool_)
                leaving[0] = True
                finished += [s for _, s in batch.remove(leaving, 0)]
    assert len(finished) == 12
    assert GivenCopy.made == steps
    assert not recorder.names & WAITING
    assert not recorder.refused


def test_cuda_a_step_of_a_batch_copies_once_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    uploads: list[tuple[int, ...]] = []
    monkeypatch.setattr(batch_module, "HostCopy", GivenCopy)
    upload = to_device

    def counted(array: np.ndarray[Any, Any], device: torch.device) -> torch.Tensor:
        uploads.append(array.shape)
        return upload(array, device)

    monkeypatch.setattr(uniform_block, "to_device", counted)
    GivenCopy.made = 0
    batch = Batch(meta_decoder("qwen2", FUSED["qwen2"]), META, 128)
    settings = SamplingSettings(max_tokens=40)
    with torch.inference_mode():
        batch.enter([SampledSequence(i, np.array([3, 4]), settings, i, lambda _: None) for i in range(3)])
        for _ in range(40):
            batch.advance(0)
    assert GivenCopy.made == 40
    # Random numbers are copied for 16 positions at a time: 40 tokens need three copies.
    assert uploads == [(3, 16)] * 3


@pytest.mark.parametrize("size", [41, 2 * BLOCK, 3 * BLOCK + 7])
@torch.inference_mode()
def test_cuda_deterministic_mode_can_draw(size: int) -> None:
    settings = [*SETTINGS] * 4
    plan = SamplingPlan(settings, META)
    logits = torch.empty(len(settings), size, device=META)
    uniform = torch.empty(len(settings), dtype=torch.float64, device=META)
    with Recorder() as recorder:
        tokens, logprobs = plan.draw(logits, 0, uniform, np.zeros(len(settings), np.int64))
    assert (tokens.shape, logprobs.shape) == ((20,), (20,))
    assert "cumsum" in recorder.names
    assert not recorder.refused
    assert not recorder.names & WAITING


def test_the_recorder_notices_what_deterministic_mode_refuses() -> None:
    with Recorder() as recorder:
        torch.ones(3).cumsum(0)
        torch.ones(3, dtype=torch.long).cumsum(0)
        assert not recorder.names & WAITING
        int(torch.ones(3).max())
    assert recorder.refused == {"cumsum"}
    assert recorder.names & WAITING == {"_local_scalar_dense"}
    with pytest.raises(RuntimeError):
        int(torch.empty(3, device=META).max())


@pytest.mark.parametrize("size", [5, 1000, 2 * BLOCK])
@pytest.mark.parametrize("spread", [1.0, 30.0])
def test_cuda_sums_of_integers_are_those_of_numbers(size: int, spread: float) -> None:
    generator = torch.Generator().manual_seed(size)
    logits = torch.randn(64, size, generator=generator) * spread
    weights = (logits - logits.amax(-1, keepdim=True)).exp_()
    weights[:, ::3] = 0
    exact = cumulative_sums(weights)
    found = integer_sums(weights)
    assert ((found - exact).abs() <= exact[:, -1:] * size * 2.0**-52).all()
    steps = torch.diff(found, dim=1, prepend=torch.zeros(64, 1, dtype=torch.float64))
    assert (steps >= 0).all()
    assert (steps[:, ::3] == 0).all()


def test_cuda_draws_by_integers_are_the_draws_by_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = torch.Generator().manual_seed(0)
    for size in (41, 5 * BLOCK + 3):
        weights = (torch.randn(500, size, generator=generator) * 3).exp_()
        weights[:, 1::2] = 0
        uniform = torch.rand(500, dtype=torch.float64, generator=generator)
        uniform[:2] = torch.tensor([0.0, 1 - 2**-53])
        numbers = inverse_cdf(weights, uniform)
        with monkeypatch.context() as patch:
            patch.setattr(inverse_cdf_module, "cumulative_sums", integer_sums)
            integers = inverse_cdf(weights, uniform)
        assert torch.equal(integers, numbers)
        assert (weights.gather(1, integers[:, None]) > 0).all()


@pytest.mark.parametrize("name", ["qwen2", "gpt2"])
def test_cuda_deterministic_mode_can_learn(name: str) -> None:
    model = make({**FUSED, **BY_MODULE}[name])
    trainable = TrainableModel(model)
    # This imitates a GPU, where the module itself computes.
    trainable.backbone = TransformersBackbone(model)
    rows = [TokenSequence(np.arange(3, 12, dtype=np.int32), np.arange(4, 9)) for _ in range(3)]
    unit = TokenUnit(0, tuple(rows), UnitGradients(np.ones(15, np.float32), np.ones(15, np.float32)))
    selection = Selection(logprob=True, entropy=True, value=False, final_value=False, temperature=1.0)
    with Recorder() as recorder:
        micro_batch = MicroBatch(trainable, [unit], selection, keep_graph=True)
        micro_batch.outputs()
        assert unit.gradients is not None
        micro_batch.backward([unit.gradients], 1.0)
    assert not recorder.refused
    assert any(gradient.abs().max() > 0 for _, _, gradient in trainable.gradients.tensors())
