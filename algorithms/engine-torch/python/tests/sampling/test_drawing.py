from __future__ import annotations

import numpy as np
import pytest
import torch

from mrlm_engine.sampling.inverse_cdf import BLOCK, inverse_cdf
from mrlm_engine.sampling.sampling_plan import SamplingPlan
from mrlm_engine.sampling.sequence import SamplingSettings
from mrlm_engine.sampling.support import truncated_support


@pytest.mark.parametrize("size", [5, 3 * BLOCK + 7])
def test_inverse_cdf_finds_where_the_cumulative_sum_passes_the_number(size: int) -> None:
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(64, size, generator=generator)
    weights[:, ::3] = 0
    uniform = torch.rand(64, dtype=torch.float64, generator=generator)
    uniform[:2] = torch.tensor([0.0, 1 - 2**-53])
    cumulative = weights.double().cumsum(-1)
    found = inverse_cdf(weights, uniform)
    target = uniform * cumulative[:, -1]
    above = cumulative.gather(1, found[:, None])[:, 0]
    assert (above >= target - 1e-9).all()
    assert (above - weights.gather(1, found[:, None])[:, 0] <= target + 1e-9).all()
    assert (weights.gather(1, found[:, None]) > 0).all()


def test_draws_follow_the_distribution() -> None:
    weights = torch.tensor([[0.5, 0.0, 0.3, 0.2]]).expand(20_000, 4)
    uniform = torch.arange(20_000, dtype=torch.float64) / 20_000
    shares = inverse_cdf(weights, uniform).bincount(minlength=4) / 20_000
    assert torch.allclose(shares, weights[0], atol=1e-3)


def test_support_is_top_k_and_then_top_p_of_what_is_left() -> None:
    logits = torch.log(torch.tensor([[0.1, 0.4, 0.2, 0.2, 0.1]]))

    def kept(top_k: int, top_p: float) -> list[int]:
        mask = truncated_support(logits, torch.tensor([top_k]), torch.tensor([top_p], dtype=torch.float64))
        return torch.nonzero(mask[0])[:, 0].tolist()

    assert kept(0, 1.0) == [0, 1, 2, 3, 4]
    assert kept(2, 1.0) == [1, 2]
    assert kept(0, 0.5) == [1, 2]
    assert kept(0, 0.61) == [1, 2, 3]
    # Of 0.4, 0.2, 0.2 renormalised to 0.5, 0.25, 0.25 the first reaches 0.45 by itself.
    assert kept(3, 0.45) == [1]
    assert kept(0, 1e-9) == [1]


def test_rows_of_one_batch_draw_by_their_own_settings() -> None:
    logits = torch.randn(4, 50, generator=torch.Generator().manual_seed(0))
    settings = [
        SamplingSettings(temperature=0),
        SamplingSettings(temperature=0.7),
        SamplingSettings(temperature=1.3, top_k=3),
        SamplingSettings(min_tokens=4, stop_token_ids=(int(logits[3].argmax()),)),
    ]
    uniform = torch.tensor([0.9, 0.3, 0.999, 0.5], dtype=torch.float64)
    counts = np.array([0, 0, 0, 3])
    tokens, logprobs = SamplingPlan(settings, torch.device("cpu")).draw(logits.clone(), 0, uniform, counts)
    assert tokens[0] == logits[0].argmax()
    assert tokens[2] in logits[2].topk(3).indices
    assert tokens[3] != logits[3].argmax()
    expected = [
        torch.log_softmax(logits[0], -1)[tokens[0]],
        torch.log_softmax(logits[1] / 0.7, -1)[tokens[1]],
        (logits[2] / 1.3)[tokens[2]] - (logits[2].topk(3).values / 1.3).logsumexp(-1),
        torch.log_softmax(logits[3], -1)[tokens[3]],
    ]
    assert torch.allclose(logprobs, torch.stack(expected), atol=1e-5)
    for row, alone in enumerate(settings):
        plan = SamplingPlan([alone], torch.device("cpu"))
        token, logprob = plan.draw(logits[row : row + 1].clone(), 0, uniform[row : row + 1], counts[row : row + 1])
        assert token[0] == tokens[row]
        assert torch.allclose(logprob[0], logprobs[row], atol=1e-6)
