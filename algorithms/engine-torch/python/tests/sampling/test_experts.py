"""Mixtures of experts: the sampler and the trainer send each token to the same experts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from client import group
from running import RunningEngine

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.gen.mrlm.sampler.v1 import sampler_pb2
from mrlm_engine.models import LoadedModel
from sampling.architectures import MIXTURE
from sampling.calls import add, prompts, tokens
from sampling.test_wire import OPEN, sample

Routes = dict[tuple[int, ...], tuple[tuple[int, ...], ...]]


class RouterLog:
    """The experts that a module's routers choose, by the tokens up to the one that is sent to them."""

    def __init__(self, model: LoadedModel, patch: pytest.MonkeyPatch) -> None:
        self.chosen: list[torch.Tensor] = []
        router = type(model.module.model.layers[0].mlp.gate)
        original = router.forward

        def forward(module: Any, hidden: torch.Tensor) -> Any:
            found = original(module, hidden)
            self.chosen.append(found[-1].detach().clone())
            return found

        patch.setattr(router, "forward", forward)

    def take(self) -> torch.Tensor:
        """Experts [layers, tokens, experts of a token] of the passes since the last call."""
        layers = int(MIXTURE["num_hidden_layers"])
        passes = [torch.stack(self.chosen[i : i + layers]) for i in range(0, len(self.chosen), layers)]
        self.chosen.clear()
        return torch.cat(passes, 1)


def test_numerics_60_trainer_and_sampler_choose_the_same_experts(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = RouterLog(engine.create(config=MIXTURE), monkeypatch)
    prompt = [5, 6, 7]
    # One sequence at a time: then the passes of the sampler are its tokens in order.
    for key in range(4):
        (finish,) = sample(
            engine, sampler_pb2.SampleRequest(open=OPEN, add=[add(key, prompt, max_tokens=20)], barrier=True)
        )
        sampled = log.take()
        drawn = tokens(finish)
        (outputs,) = engine.client.forward([group(prompt, [drawn])])
        # The last token is not read by the trainer: no token follows it.
        trained = log.take()[:, : len(prompt) + len(drawn) - 1]
        assert torch.equal(sampled[:, : trained.shape[1]].sort(-1).values, trained.sort(-1).values)
        assert np.abs(np.frombuffer(finish.logprobs, "<f4") - outputs["logprob"]).max() < 1e-4
        # Experts differ between tokens, or the test would show nothing.
        assert len({tuple(row.tolist()) for row in trained[0].sort(-1).values}) > 3


def test_numerics_60_neighbours_change_no_route_and_updates_reach_every_expert(engine: RunningEngine) -> None:
    model = engine.create(config=MIXTURE)
    adds = [add(i, p, max_tokens=16) for i, p in enumerate(prompts(6, model.vocab_size))]
    together = sample(engine, sampler_pb2.SampleRequest(open=OPEN, add=adds, barrier=True))
    for request, finish in zip(adds, together, strict=True):
        (alone,) = sample(engine, sampler_pb2.SampleRequest(open=OPEN, add=[request], barrier=True))
        assert tokens(alone) == tokens(finish)
        np.testing.assert_allclose(
            np.frombuffer(alone.logprobs, "<f4"), np.frombuffer(finish.logprobs, "<f4"), atol=1e-4
        )
    units = [group([3 + i, 4], [[int(t) for t in np.random.default_rng(i).integers(2, 41, 20)]]) for i in range(12)]
    engine.client.forward_backward(units, lambda _, o: {"logprob": -np.ones_like(o["logprob"])})
    for name, parameter in model.named_parameters():
        if "experts" in name and parameter.grad is not None:
            assert bool(parameter.grad.flatten(1).any(1).all()), f"an expert of {name} has no gradient"
    gates = [parameter for name, parameter in model.named_parameters() if ".gate.weight" in name]
    assert len(gates) == 2
    assert all(bool(gate.grad.any()) for gate in gates if gate.grad is not None)
    engine.client.step(learning_rate=0.02)
    engine.client.numbered("Publish", pb.PublishRequest, model_id="policy")
    for finish in sample(engine, sampler_pb2.SampleRequest(open=OPEN, add=adds, barrier=True)):
        prompt = np.frombuffer(adds[finish.id].prompt, "<i4").tolist()
        (outputs,) = engine.client.forward([group(prompt, [tokens(finish)])])
        assert np.abs(np.frombuffer(finish.logprobs, "<f4") - outputs["logprob"]).max() < 1e-4
