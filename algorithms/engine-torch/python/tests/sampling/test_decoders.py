"""One contract for every decoder: its logits are those of a full forward pass, whatever enters and leaves."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from rounding import tolerance

from mrlm_engine.decoding.protocol import Decoder, PromptGroup
from mrlm_engine.decoding.row_moves import RowMoves
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.llama import decoder as llama_decoder
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.models import LoadedModel
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.checksum import weights_checksum
from mrlm_engine.sampling.choose_decoder import choose_decoder, module_decoder
from sampling.architectures import BY_MODULE, FUSED, disturb, make

pytestmark = pytest.mark.slow


def decoder_of(name: str, model: LoadedModel) -> Decoder:
    weights = inference_weights(model)
    return choose_decoder(model, weights) if name in FUSED else module_decoder(model, weights)


class Driver:
    """A decoder, and the tokens that each of its rows has been given."""

    def __init__(self, model: LoadedModel, decoder: Decoder) -> None:
        self.model = model
        self.decoder = decoder
        self.rows: list[list[int]] = []
        self.generator = torch.Generator().manual_seed(0)

    def tokens(self, count: int) -> torch.Tensor:
        return torch.randint(0, self.decoder.vocab, (count,), generator=self.generator)

    def admit(self, *groups: tuple[int, int]) -> torch.Tensor:
        """Admits groups of (prompt length, rows); logits of the new rows."""
        made = [PromptGroup(self.tokens(length), rows) for length, rows in groups]
        self.rows += [group.tokens.tolist() for group in made for _ in range(group.rows)]
        return self.decoder.logits(self.decoder.admit(made))

    def step(self) -> torch.Tensor:
        tokens = self.tokens(len(self.rows))
        for row, token in zip(self.rows, tokens.tolist(), strict=True):
            row.append(token)
        return self.decoder.logits(self.decoder.step(tokens))

    def keep(self, target: list[int], source: list[int], rows: int) -> None:
        for to, origin in zip(target, source, strict=True):
            self.rows[to] = self.rows[origin]
        del self.rows[rows:]
        self.decoder.keep(RowMoves(target, source, rows, torch.device("cpu")))

    def expected(self, rows: list[list[int]] | None = None) -> torch.Tensor:
        with torch.no_grad():
            return torch.stack([self.model.module(torch.tensor([row])).logits[0, -1] for row in rows or self.rows])


CASES = {**FUSED, **BY_MODULE}
# Each architecture in float32; the decoders in bfloat16 too, and with an adapter.
DRIVERS: dict[str, tuple[str, dict[str, Any]]] = {name: (name, {}) for name in CASES}
for _name in ("qwen2", "qwen3", "gpt2", "mistral-sliding"):
    DRIVERS[f"{_name}-bfloat16"] = (_name, {"dtype": "bfloat16"})
    DRIVERS[f"{_name}-adapter"] = (_name, {"lora": pb.Lora(rank=3, alpha=6.0)})
    DRIVERS[f"{_name}-adapter-bfloat16"] = (_name, {"dtype": "bfloat16", "lora": pb.Lora(rank=3, alpha=6.0)})


@pytest.fixture(params=DRIVERS, name="driver")
def _driver(request: pytest.FixtureRequest) -> Driver:
    name, fields = DRIVERS[request.param]
    if "lora" in fields:
        pytest.importorskip("peft")
    model = make(CASES[name], **fields)
    return Driver(model, decoder_of(name, model))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    size = float(other.float().abs().max())
    # The module's logits, which come second, are in its format; the decoder's may be in float32.
    return bool((one.float() - other.float()).abs().max() < tolerance(str(other.dtype).removeprefix("torch."), size))


@torch.inference_mode()
def test_numerics_36_logits_are_those_of_a_full_forward_pass_of_each_sequence_alone(driver: Driver) -> None:
    assert close(driver.admit((5, 3), (9, 1), (1, 2)), driver.expected())
    for _ in range(12):
        assert close(driver.step(), driver.expected())
    assert driver.decoder.rows == 6


@torch.inference_mode()
def test_sequences_enter_and_leave_a_running_batch(driver: Driver) -> None:
    driver.admit((4, 2), (7, 2))
    for _ in range(3):
        driver.step()
    entered = driver.admit((2, 1), (11, 2))
    assert close(entered, driver.expected()[4:])
    assert close(driver.step(), driver.expected())
    # Rows 0 and 3 leave, the last two take their places.
    driver.keep([0, 3], [5, 6], 5)
    assert close(driver.step(), driver.expected())
    driver.keep([], [], 2)
    assert close(driver.step(), driver.expected())
    driver.keep([], [], 0)
    assert driver.decoder.rows == 0
    assert close(driver.admit((3, 2)), driver.expected())


@torch.inference_mode()
def test_numerics_49_new_weights_are_computed_with_and_read_back_equal(driver: Driver) -> None:
    driver.admit((4, 1))
    driver.decoder.clear()
    driver.rows.clear()
    disturb(driver.model)
    weights = inference_weights(driver.model)
    assert weights_checksum(driver.decoder.weights()) != weights_checksum(weights.items())
    driver.decoder.load(weights)
    assert weights_checksum(driver.decoder.weights()) == weights_checksum(weights.items())
    assert close(driver.admit((4, 2)), driver.expected())
    assert close(driver.step(), driver.expected())


def test_the_fused_decoder_serves_the_family_it_knows() -> None:
    for name, config in CASES.items():
        model = make(config)
        fused = isinstance(choose_decoder(model, inference_weights(model)), LlamaDecoder)
        assert fused == (config is CASES["qwen2"] or name in FUSED)


@torch.inference_mode()
def test_prompts_beyond_the_token_budget_are_computed_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_decoder, "PREFILL_TOKENS", 16)
    model = make(FUSED["qwen2"])
    driver = Driver(model, decoder_of("qwen2", model))
    assert close(driver.admit((5, 2), (6, 1), (3, 2), (30, 1), (2, 1)), driver.expected())
    assert close(driver.step(), driver.expected())


@pytest.mark.parametrize("name", ["qwen2", "gpt2"])
@torch.inference_mode()
def test_numerics_18_the_head_in_float32_of_a_model_in_bfloat16(name: str) -> None:
    model = make(CASES[name], dtype="bfloat16", float32_head=True)
    driver = Driver(model, decoder_of(name, model))
    logits = driver.admit((5, 2), (8, 1))
    assert logits.dtype == torch.float32
    assert (logits - driver.expected().float()).abs().max() < 0.2
    assert (driver.step() - driver.expected().float()).abs().max() < 0.2
    # Logits that were rounded to bfloat16 would all survive the rounding.
    assert (logits != logits.bfloat16().float()).any()


@torch.inference_mode()
def test_the_head_in_float32_adds_its_bias() -> None:
    config = {"model_type": "phi", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    model = make({**config, "num_attention_heads": 4}, dtype="bfloat16", float32_head=True)
    model.module.lm_head.bias.fill_(3.0)
    decoder = choose_decoder(model, inference_weights(model))
    tokens = torch.arange(3, 20)
    logits = decoder.logits(decoder.admit([PromptGroup(tokens, 1)]))
    assert (logits - model.module(input_ids=tokens[None]).logits[:, -1].float()).abs().max() < 0.1


def test_a_changed_element_changes_the_checksum() -> None:
    weights: dict[str, Any] = {"a": torch.zeros(300), "b": torch.arange(8, dtype=torch.bfloat16)}
    before = weights_checksum(weights.items())
    weights["a"][17] = 1e-30
    changed = weights_checksum(weights.items())
    weights["a"][17] = 0
    weights["a"][18] = 1e-30
    assert len({before, changed, weights_checksum(weights.items())}) == 3
