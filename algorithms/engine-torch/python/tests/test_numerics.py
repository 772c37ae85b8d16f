"""Lines of NUMERICS that the engine answers for, by number."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from autograd import accumulated, largest_difference, reference_gradients, reference_outputs
from client import Array, Client, Outputs, group, sequence
from rounding import tolerance
from running import RunningEngine
from tiny import GPT2, LLAMA, QWEN2

from mrlm_engine.batching.unit import TokenSequence, TokenUnit
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.logprobs.blocks import BLOCK
from mrlm_engine.logprobs.logprobs import CHUNK_NUMBERS

FORMATS = pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
BOTH = pytest.mark.parametrize("config", [QWEN2, GPT2], ids=["dense", "transformers"])


def ones(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": np.ones_like(outputs["logprob"])}


def sample(
    client: Client, prompts: list[list[int]], temperature: float, max_tokens: int = 12
) -> dict[int, sampler_pb2.SampleFinish]:
    """Samples one wave of completions without stop tokens; returns them by id."""
    parameters = sampler_pb2.SamplingParams(temperature=temperature, max_tokens=max_tokens)
    add = [
        sampler_pb2.SampleAdd(id=i, prompt=np.asarray(prompt, "<i4").tobytes(), params=parameters, key=1000 + i)
        for i, prompt in enumerate(prompts)
    ]
    opening = sampler_pb2.SampleRequest(open=sampler_pb2.SampleOpen(model_id="policy"))
    responses = client.sampling.Sample(iter([opening, sampler_pb2.SampleRequest(add=add, barrier=True)]), timeout=60)
    return {finish.id: finish for response in responses for finish in response.finish}


def recomputed(
    client: Client, prompts: list[list[int]], found: dict[int, sampler_pb2.SampleFinish], temperature: float
) -> Array:
    units = [group(prompt, [np.frombuffer(found[i].token_ids, "<i4").tolist()]) for i, prompt in enumerate(prompts)]
    return np.concatenate([o["logprob"] for o in client.forward(units, temperature=temperature)])


PROMPTS = [[5, 6, 7], [5, 6, 7], [8, 9, 10, 11, 12], [13]]


@FORMATS
@BOTH
def test_numerics_14_ratio_is_one_on_fresh_data(engine: RunningEngine, config: dict[str, Any], dtype: str) -> None:
    engine.create(config=config, dtype=dtype)
    found = sample(engine.client, PROMPTS, 1.0)
    sampled = np.concatenate([np.frombuffer(found[i].logprobs, "<f4") for i in range(len(PROMPTS))])
    again = recomputed(engine.client, PROMPTS, found, 1.0)
    assert np.abs(again - sampled).max() < tolerance(dtype)
    # Against what the trainer itself computes the ratio is exactly 1, with and without a graph.
    units = [group(p, [np.frombuffer(found[i].token_ids, "<i4").tolist()]) for i, p in enumerate(PROMPTS)]
    trained = engine.client.forward_backward(units, ones)
    assert np.concatenate([trained.outputs[i]["logprob"] for i in range(len(units))]).tobytes() == again.tobytes()


@BOTH
def test_numerics_15_temperature_of_the_sampler_is_that_of_the_trainer(
    engine: RunningEngine, config: dict[str, Any]
) -> None:
    engine.create(config=config)
    found = sample(engine.client, PROMPTS, 0.7)
    sampled = np.concatenate([np.frombuffer(found[i].logprobs, "<f4") for i in range(len(PROMPTS))])
    assert np.abs(recomputed(engine.client, PROMPTS, found, 0.7) - sampled).max() < 1e-4
    assert np.abs(recomputed(engine.client, PROMPTS, found, 1.0) - sampled).max() > 1e-2


def test_numerics_18_float32_head_closes_the_gap_of_bfloat16(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With products in bfloat16 by the processor the head is always computed in float32.
    monkeypatch.setattr("mrlm_engine.llama.shape.has_bfloat16", lambda: False)
    tokens = np.random.default_rng(0).integers(2, 41, 24).astype(np.int32)
    asked = TokenUnit(0, (TokenSequence(tokens, np.arange(3, 24)),))
    gaps = {}
    for float32_head in (False, True):
        model = engine.create(f"half-{float32_head}", LLAMA, dtype="bfloat16", float32_head=float32_head)
        # Same hidden states; only the head's own rounding is left.
        run = engine.state.trainable_model(model.model_id).backbone.forward([asked], False, False)
        logits = run.hidden.float() @ model.head_weight.float().t()
        exact = logits.log_softmax(-1)[run.rows.output_row, run.rows.targets]
        (outputs,) = engine.client.forward([group(tokens[:3].tolist(), [tokens[3:].tolist()])], model.model_id)
        gaps[float32_head] = float((torch.from_numpy(outputs["logprob"].copy()) - exact).detach().abs().max())
    assert gaps[True] < 1e-5 < gaps[False]


def test_numerics_20_a_dropped_position_has_no_part_in_the_gradient(engine: RunningEngine) -> None:
    # The client answers 0 for what it drops (a sampler's NaN); the results are as if it had not requested these tokens.
    engine.create()
    trainable = engine.state.trainable_model("policy")
    tokens = [3, 4, 5, 6, 7, 8]
    whole, without = [0, 1, 1, 1, 1, 1], [0, 1, 1, 0, 1, 1]

    def dropped(_: int, outputs: Outputs) -> dict[str, Array]:
        return {"logprob": np.asarray([1, 1, 0, 1, 1], np.float32)}

    engine.client.forward_backward([pb.Unit(sequences=[sequence(tokens, whole)])], dropped, normalizer=4)
    found = accumulated(trainable)
    trainable.clear()
    engine.client.forward_backward([pb.Unit(sequences=[sequence(tokens, without)])], ones, normalizer=4)
    assert largest_difference(found, accumulated(trainable)) < 1e-6


@BOTH
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_numerics_21_39_chunked_log_probabilities_equal_full_ones(
    engine: RunningEngine, config: dict[str, Any], temperature: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = engine.create(config=config)
    units = [group([3, 4, 5, 6], [[7, 8, 9], [10, 11], [12]]), group([4, 5], [[13, 14, 15, 16, 17]])]

    def loss(_: int, outputs: Outputs) -> dict[str, Array]:
        return {"logprob": np.sin(outputs["logprob"]), "entropy": np.cos(outputs["entropy"])}

    results = []
    whole = (64, 64)
    for chunk, kept, block in (
        (1 << 22, 1 << 24, None),
        (1 << 22, 0, None),
        (3 * 41, 1 << 24, None),
        (41, 0, None),
        # Blocks of rows and of the vocabulary, whose last ones are smaller.
        (0, 0, whole),
        (0, 0, (3, 16)),
        (0, 1 << 24, (3, 16)),
        (0, 0, (1, 41)),
    ):
        monkeypatch.setitem(CHUNK_NUMBERS, "cpu", chunk)
        monkeypatch.setattr("mrlm_engine.logprobs.logprobs.KEPT_NUMBERS", kept)
        monkeypatch.setattr("mrlm_engine.logprobs.logprobs.LARGE_VOCABULARY", 0 if block else 1 << 14)
        monkeypatch.setitem(BLOCK, "cpu", block or whole)
        engine.state.trainable_model("policy").clear()
        outputs = engine.client.forward_backward(
            units, loss, temperature=temperature, logprob=True, entropy=True
        ).outputs
        results.append((outputs, accumulated(engine.state.trainable_model("policy"))))
    for outputs, gradients in results:
        assert largest_difference(gradients, results[0][1]) < 1e-5
        for i, unit in enumerate(units):
            expected = reference_outputs(model, unit, temperature)
            for name in ("logprob", "entropy"):
                np.testing.assert_allclose(outputs[i][name], expected[name].detach().numpy(), atol=1e-5)


def test_numerics_29_masked_tokens_are_read_but_not_learned(engine: RunningEngine) -> None:
    # Tokens at masked-out positions are no targets and have no gradient: only the requested log-probabilities have one.
    model = engine.create()
    tokens, mask = [3, 4, 5, 20, 21, 6, 7], [0, 1, 1, 0, 0, 1, 1]
    unit = pb.Unit(sequences=[sequence(tokens, mask)])
    engine.client.forward_backward([unit], ones)
    found = accumulated(engine.state.trainable_model("policy"))
    result = model.module(torch.tensor([tokens])).logits[0].log_softmax(-1)
    loss = sum(result[t - 1, tokens[t]] for t in (1, 2, 5, 6))
    named = dict(model.named_parameters())
    expected = torch.autograd.grad(loss, list(named.values()))
    assert largest_difference(found, dict(zip(named, expected, strict=True))) < 1e-5


@BOTH
def test_numerics_30_a_completion_of_one_token_gets_gradient(engine: RunningEngine, config: dict[str, Any]) -> None:
    model = engine.create(config=config)
    result = engine.client.forward_backward([group([3, 4, 5], [[6]])], ones)
    expected = model.module(torch.tensor([[3, 4, 5]])).logits[0, -1].log_softmax(-1)[6]
    assert result.outputs[0]["logprob"] == pytest.approx([float(expected.detach())], abs=1e-5)
    assert engine.state.trainable_model("policy").optimizer.grad_norm() > 0


@BOTH
def test_numerics_32_end_token_is_learned_where_it_is_also_the_padding(
    engine: RunningEngine, config: dict[str, Any]
) -> None:
    model = engine.create(config={**config, "pad_token_id": 1, "eos_token_id": 1})
    # The shorter sequence is padded to the longer one; its end token (id 1) is an output like any other.
    units = [group([3, 4], [[5, 6, 1]]), group([7, 8], [[9, 10, 11, 12, 13, 1]])]
    model.micro_batch_tokens = 1000
    result = engine.client.forward_backward(units, ones)
    for i, unit in enumerate(units):
        expected = reference_outputs(model, unit)["logprob"].detach().numpy()
        np.testing.assert_allclose(result.outputs[i]["logprob"], expected, atol=1e-5)


@BOTH
def test_numerics_36_log_probabilities_do_not_depend_on_padding(engine: RunningEngine, config: dict[str, Any]) -> None:
    model = engine.create(config=config)
    model.micro_batch_tokens = 1000
    unit = group([3, 4, 5], [[6, 7, 8]])
    alone = engine.client.forward([unit])[0]["logprob"]
    for length in (4, 30, 90):
        beside = engine.client.forward([unit, group([9] * length, [[10, 11]])])[0]["logprob"]
        np.testing.assert_allclose(beside, alone, atol=1e-5)


def test_numerics_38_units_without_outputs_pass_through(engine: RunningEngine) -> None:
    engine.create()
    empty = pb.Unit(sequences=[sequence([3, 4, 5], [0, 0, 0])])
    result = engine.client.forward_backward([empty, group([3], [[4]]), empty], lambda i, o: ones(i, o) if o else {})
    assert result.done is not None
    assert (result.outputs[0], result.outputs[2]) == ({}, {})
    assert engine.client.forward_backward([]).done is not None


@BOTH
def test_numerics_44_values_are_zero_at_first_and_learn(engine: RunningEngine, config: dict[str, Any]) -> None:
    engine.create("policy", config, role=pb.ROLE_CRITIC)
    units = [group([3, 4, 5], [[6, 7, 8]])]
    first = engine.client.forward(units, value=True, final_value=True)[0]
    assert not first["value"].any()
    assert not first["final_value"].any()
    for _ in range(20):
        engine.client.forward_backward(units, lambda _, o: {"value": o["value"] - 1}, value=True)
        engine.client.step()
    last = engine.client.forward(units, value=True)[0]["value"]
    assert np.abs(last - 1).max() < 0.3


@FORMATS
@BOTH
def test_numerics_49_the_sampler_has_the_trainers_weights_after_publish(
    engine: RunningEngine, config: dict[str, Any], dtype: str
) -> None:
    engine.create(config=config, dtype=dtype)
    sample(engine.client, PROMPTS, 1.0)
    engine.client.forward_backward([group([3, 4], [[5, 6]])], ones)
    engine.client.step(learning_rate=0.05)
    stale = sample(engine.client, PROMPTS, 1.0)
    published = engine.client.numbered("Publish", pb.PublishRequest, model_id="policy")
    assert published.checksum
    fresh = sample(engine.client, PROMPTS, 1.0)
    for found, version, agrees in ((stale, 0, False), (fresh, published.version, True)):
        assert {run.version for finish in found.values() for run in finish.versions} == {version}
        sampled = np.concatenate([np.frombuffer(found[i].logprobs, "<f4") for i in range(len(PROMPTS))])
        difference = np.abs(recomputed(engine.client, PROMPTS, found, 1.0) - sampled).max()
        assert bool(difference < tolerance(dtype)) is agrees


def test_numerics_57_steps_count_optimizer_steps_not_micro_batches(engine: RunningEngine) -> None:
    model = engine.create()
    model.micro_batch_tokens = 1
    units = [group([3, 4], [[5, 6]]), group([3, 4], [[7, 8]]), group([3, 9], [[7, 8]])]
    result = engine.client.forward_backward(units, ones)
    assert result.done is not None
    assert result.done.micro_batches == 3
    assert engine.client.step().step == 1


def test_numerics_58_clipping_comes_after_accumulation(engine: RunningEngine) -> None:
    for name in ("policy", "twin"):
        engine.create(name)
    unit = group([3, 4], [[5, 6, 7]])
    for _ in range(2):
        engine.client.forward_backward([unit], ones, normalizer=2)
    engine.client.forward_backward([unit], ones, model_id="twin")
    norm = engine.state.trainable_model("twin").optimizer.grad_norm()
    before = {name: p.detach().clone() for name, p in engine.state.registry.get("policy").named_parameters()}
    # Without moments and with a very large epsilon, AdamW's step is the gradient, so that its length shows the clip.
    plain = {"learning_rate": 1e6, "beta1": 0.0, "beta2": 0.0, "epsilon": 1e6}
    for name in ("policy", "twin"):
        assert engine.client.step(name, max_grad_norm=norm / 10, **plain).grad_norm == pytest.approx(norm, rel=1e-5)
        moved = [p.detach() - before[key] for key, p in engine.state.registry.get(name).named_parameters()]
        assert math.sqrt(sum(float(m.double().square().sum()) for m in moved)) == pytest.approx(norm / 10, rel=1e-3)


def test_numerics_58_a_norm_that_is_not_finite_skips_the_step(engine: RunningEngine) -> None:
    model = engine.create()
    before = model.head_weight.clone()
    unit = group([3, 4], [[5, 6, 7]])
    engine.client.forward_backward([unit], lambda _, o: {"logprob": np.full(3, math.nan, np.float32)})
    result = engine.client.step()
    assert (result.applied, result.step) == (False, 0)
    assert "nan" in result.skipped_reason
    assert torch.equal(before, model.head_weight)
    # The skipped step leaves no gradient.
    engine.client.forward_backward([unit], ones)
    assert engine.client.step().applied


def test_numerics_59_decay_and_tied_embeddings(engine: RunningEngine, tmp_path: Path) -> None:
    model = engine.create()
    engine.client.forward_backward([group([3, 4], [[5, 6, 7]])], lambda _, o: {"logprob": np.zeros_like(o["logprob"])})
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    norm = engine.client.step(learning_rate=0.1, weight_decay=0.5).grad_norm
    assert norm == 0
    for name, parameter in model.named_parameters():
        decayed = torch.allclose(parameter, before[name] * 0.95)
        kept = torch.equal(parameter, before[name])
        expected = parameter.ndim >= 2 and "embed_tokens" not in name
        assert (decayed, kept) == (expected, not expected) or not before[name].any()
    # The tied head is not a separate parameter: not in the norm, not in the checkpoint.
    engine.client.forward_backward([group([3, 4], [[5, 6, 7]])], ones)
    gradients = accumulated(engine.state.trainable_model("policy"))
    expected_norm = math.sqrt(sum(float(g.double().square().sum()) for g in gradients.values()))
    assert engine.state.trainable_model("policy").optimizer.grad_norm() == pytest.approx(expected_norm, rel=1e-6)
    engine.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "checkpoint"))
    from safetensors.torch import load_file

    saved = load_file(tmp_path / "checkpoint/models/0/weights.safetensors")
    assert sum(t.numel() for t in saved.values()) == sum(p.numel() for p in model.module.parameters())
    assert json.loads((tmp_path / "checkpoint/manifest.json").read_text())["models"][0]["model_id"] == "policy"


def test_optimizer_is_torchs_adamw(engine: RunningEngine) -> None:
    model = engine.create(config=LLAMA)
    import copy

    twin = copy.deepcopy(model.module).requires_grad_(True)
    decayed = [p for n, p in twin.named_parameters() if p.ndim >= 2 and "embed_tokens" not in n]
    plain = [p for n, p in twin.named_parameters() if p.ndim < 2 or "embed_tokens" in n]
    adamw = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}])
    ids = torch.tensor([[3, 4, 5, 6, 7]])
    for rate in (1e-2, 5e-3, 2e-3):
        engine.client.forward_backward([group([3, 4], [[5, 6, 7]])], ones, normalizer=3)
        engine.client.step(learning_rate=rate, beta2=0.95, epsilon=1e-5, weight_decay=0.1, max_grad_norm=0.5)
        log_p = twin(ids).logits[0].log_softmax(-1)
        (log_p[[1, 2, 3], ids[0, 2:]].sum() / 3).backward()
        torch.nn.utils.clip_grad_norm_(twin.parameters(), 0.5)
        for settings in adamw.param_groups:
            # AdamW divides a gradient that is rounding noise by its own size: 1e-5 is far above the noise, 1e-8 is not.
            settings.update(lr=rate, betas=(0.9, 0.95), eps=1e-5)
        adamw.step()
        adamw.zero_grad()
    for (name, ours), theirs in zip(model.module.named_parameters(), twin.parameters(), strict=True):
        assert float((ours - theirs).detach().abs().max()) < 2e-5, name


@BOTH
def test_the_padding_tokens_input_embedding_has_no_gradient_as_in_torch(
    engine: RunningEngine, config: dict[str, Any]
) -> None:
    model = engine.create(config={**config, "pad_token_id": 1})
    units = [group([3, 1, 4], [[5, 1, 6]])]
    engine.client.forward_backward(units, ones)
    expected = reference_gradients(model, units, lambda _, outputs: outputs["logprob"].sum())
    assert largest_difference(accumulated(engine.state.trainable_model("policy")), expected) < 1e-5
