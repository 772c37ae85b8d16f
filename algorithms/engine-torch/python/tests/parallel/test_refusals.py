"""Meshes and models that do not fit each other are refused before anything is trained."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from tiny import GPT2, LLAMA

from mrlm_engine.cli import parse_arguments
from mrlm_engine.compute.mesh import mesh_sizes
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from parallel.learning import QWEN3, create, make_state
from parallel.world import RankError, run_ranks

GEMMA: dict[str, Any] = {**LLAMA, "model_type": "gemma2", "head_dim": 8, "query_pre_attn_scalar": 8}


def refused(sizes: tuple[int, int, int], config: dict[str, Any], **fields: Any) -> None:
    lora = fields.pop("lora", None)
    if lora is not None:
        # A message cannot be sent to another process.
        fields["lora"] = pb.Lora(rank=lora[0], alpha=lora[1])
    create(make_state(sizes), config, **fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "config", "fields", "message"),
    [
        ((1, 1, 2), GPT2, {}, "transformers has no plan by which 2 ranks share the products of 'policy' \\(gpt2\\)"),
        ((1, 1, 2), {**QWEN3, "num_key_value_heads": 1}, {}, "evenly, which has num_key_value_heads 1"),
        ((1, 1, 2), {**LLAMA, "intermediate_size": 45}, {}, "evenly, which has intermediate_size 45"),
        ((1, 1, 2), LLAMA, {"lora": (2, 4.0)}, "has an adapter"),
        ((1, 2, 1), GEMMA, {}, "has layers whose sequences 2 ranks cannot share"),
    ],
)
def test_a_model_that_cannot_be_divided_is_refused(
    sizes: tuple[int, int, int], config: dict[str, Any], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(RankError, match=message):
        run_ranks(2, functools.partial(refused, sizes, config, **fields))


def test_a_mesh_has_as_many_ranks_as_the_engine() -> None:
    assert mesh_sizes(8, None) == (8, 1, 1)
    assert mesh_sizes(8, (2, 1, 4)) == (2, 1, 4)
    with pytest.raises(EngineError, match="data 2 x context 2 x tensor 1 has 4 ranks, and the engine has 8"):
        mesh_sizes(8, (2, 2, 1))


def test_the_mesh_is_an_argument_of_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_arguments(["--parallel", "2,1,4"]).parallel == (2, 1, 4)
    assert parse_arguments([]).parallel is None
    for wrong in ("2,1", "2,0,1", "a,b,c"):
        with pytest.raises(SystemExit):
            parse_arguments(["--parallel", wrong])
        assert "--parallel" in capsys.readouterr().err
