"""Two ranks on gloo against one process: the same numbers, one checkpoint format, one end."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from client import Array, Client, EngineCallError, Outputs, group
from rank_processes import RankedEngine
from rounding import tolerance
from running import RunningEngine
from safetensors.torch import load_file
from test_numerics import PROMPTS, sample
from tiny import LLAMA, QWEN2, create_request

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb

pytestmark = pytest.mark.slow

STEPS = 20


@pytest.fixture
def single() -> Iterator[RunningEngine]:
    """Yields a second engine of one process."""
    running = RunningEngine()
    yield running
    running.stop()


def create(client: Client, model_id: str = "policy", **fields: object) -> None:
    client.call += 1
    request = create_request(model_id, json.dumps(fields.pop("config", QWEN2)), **fields)
    request.call = client.call
    client.unary("CreateModel", request)


def uneven_units(step: int) -> list[pb.Unit]:
    """Returns one to five groups of unequal sizes and lengths; a step of one group leaves a rank without data."""
    random = np.random.default_rng(step)

    def tokens(low: int, high: int) -> list[int]:
        drawn: list[int] = random.integers(2, 41, int(random.integers(low, high))).tolist()
        return drawn

    return [
        group(tokens(2, 6), [tokens(1, 9) for _ in range(random.integers(1, 4))]) for _ in range(random.integers(1, 6))
    ]


def loss(_: int, outputs: Outputs) -> dict[str, Array]:
    return {"logprob": -np.exp(0.5 * outputs["logprob"]), "value": 0.1 * (outputs["value"] - 1)}


def train(client: Client, steps: range, model_id: str = "policy") -> list[tuple[float, float]]:
    """Returns the loss and gradient norm of each step."""
    found = []
    for step in steps:
        units = uneven_units(step)
        tokens = sum(sum(s.mask) for unit in units for s in unit.sequences)
        result = client.forward_backward(units, loss, model_id=model_id, normalizer=tokens, logprob=True, value=True)
        total = sum(
            float(np.exp(0.5 * o["logprob"]).sum() - 0.05 * ((o["value"] - 1) ** 2).sum())
            for o in result.outputs.values()
        )
        found.append(
            (total / tokens, client.step(model_id, learning_rate=1e-3, weight_decay=0.01, max_grad_norm=1.0).grad_norm)
        )
    return found


def test_numerics_2_38_two_ranks_are_one_process(
    ranked: RankedEngine, engine: RunningEngine, single: RunningEngine, tmp_path: Path
) -> None:
    one, two = engine.client, ranked.client
    for client in (one, two):
        create(client, value_head=True)
        client.numbered("CreateModel", pb.CreateModelRequest, model_id="reference", copy_of="policy")
    described = two.unary("Describe", pb.DescribeRequest())
    assert (described.world_size, one.unary("Describe", pb.DescribeRequest()).world_size) == (2, 1)
    assert described.models[0].parameters == engine.client.unary("Describe", pb.DescribeRequest()).models[0].parameters
    expected, found = train(one, range(STEPS)), train(two, range(STEPS))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert {len(uneven_units(step)) for step in range(STEPS)} >= {1, 3, 5}

    units = uneven_units(0)
    for client in (one, two):
        client.numbered("Average", pb.AverageRequest, model_id="reference", of="policy", decay=0.5)
    for model_id in ("policy", "reference"):
        ours, theirs = one.forward(units, model_id), two.forward(units, model_id)
        for unit, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(other["logprob"], unit["logprob"], atol=1e-4)

    # Checkpoints do not depend on the number of ranks: one process resumes that of two, and two resume that of one.
    saved = tmp_path / "two"
    two.numbered("Save", pb.SaveRequest, directory=str(saved))
    single.client.call = single.client.numbered("Load", pb.LoadRequest, directory=str(saved)).last_call
    going_on = range(STEPS, STEPS + 3)
    expected, found = train(single.client, going_on), train(two, going_on)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    single.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "one"))
    two.call = two.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "one")).last_call
    later = range(STEPS + 3, STEPS + 5)
    np.testing.assert_allclose(train(two, later), train(single.client, later), rtol=1e-5, atol=1e-5)

    # Numerics 49: each rank's sampler has the trained weights, which an export holds too.
    published = [c.numbered("Publish", pb.PublishRequest, model_id="policy") for c in (single.client, two)]
    assert all(p.checksum for p in published)
    here, there = (sample(client, PROMPTS, 1.0) for client in (single.client, two))
    assert {i: (f.token_ids, f.reason) for i, f in there.items()} == {
        i: (f.token_ids, f.reason) for i, f in here.items()
    }
    two.numbered("Export", pb.ExportRequest, model_id="policy", directory=str(tmp_path / "hf"))
    single.client.numbered("CreateModel", pb.CreateModelRequest, model_id="exported", directory=str(tmp_path / "hf"))
    for unit, other in zip(two.forward(units), single.client.forward(units, "exported"), strict=True):
        np.testing.assert_allclose(other["logprob"], unit["logprob"], atol=tolerance("float32"))


LORA = pb.Lora(rank=4, alpha=8.0, seed=5)
FORMS: dict[str, dict[str, object]] = {
    "adapter": {"lora": LORA},
    "adapter, bfloat16": {"lora": LORA, "dtype": "bfloat16"},
    "bfloat16": {"dtype": "bfloat16"},
    "untied, checkpointed": {"config": LLAMA, "gradient_checkpointing": True},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_model_is_that_of_one_process(
    ranked: RankedEngine, engine: RunningEngine, single: RunningEngine, form: str, tmp_path: Path
) -> None:
    has_adapter = "lora" in FORMS[form]
    if has_adapter:
        pytest.importorskip("peft", reason="peft is not installed (mrlm engine setup --extra lora)")
    dtype = str(FORMS[form].get("dtype", "float32"))
    # Loss and gradient norm are sums of numbers up to 1; an optimizer step carries their differences on.
    step_tolerance = max(tolerance(dtype, 1.0), 1e-5)
    for client in (engine.client, ranked.client):
        create(client, "form", value_head=True, **FORMS[form])
        source = {"adapter_off": "form"} if has_adapter else {"copy_of": "form"}
        client.numbered("CreateModel", pb.CreateModelRequest, model_id="frozen", **source)
    found, expected = (train(client, range(4), "form") for client in (ranked.client, engine.client))
    np.testing.assert_allclose(found, expected, rtol=step_tolerance, atol=step_tolerance)
    for client in () if has_adapter else (engine.client, ranked.client):
        client.numbered("Average", pb.AverageRequest, model_id="frozen", of="form", decay=0.5)
    ranked.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"), model_ids=["form", "frozen"])
    single.client.call = single.client.numbered("Load", pb.LoadRequest, directory=str(tmp_path / "c")).last_call
    ranked.client.numbered(
        "Export", pb.ExportRequest, model_id="form", directory=str(tmp_path / "hf"), merge_adapter=True
    )
    exported = pb.CreateModelRequest(model_id="exported", directory=str(tmp_path / "hf"), dtype=dtype)
    single.client.unary("CreateModel", exported)
    units = uneven_units(1)
    for theirs, ours in (("form", "form"), ("frozen", "frozen"), ("form", "exported")):
        pairs = zip(ranked.client.forward(units, theirs), single.client.forward(units, ours), strict=True)
        for one, other in pairs:
            np.testing.assert_allclose(one["logprob"], other["logprob"], rtol=0, atol=tolerance(dtype))
    found, expected = (train(client, range(4, 6), "form") for client in (ranked.client, single.client))
    np.testing.assert_allclose(found, expected, rtol=step_tolerance, atol=step_tolerance)


def test_numerics_47_a_critic_of_two_ranks_says_zero_at_first_and_then_what_one_process_says(
    ranked: RankedEngine, engine: RunningEngine, tmp_path: Path
) -> None:
    def values(client: Client) -> Array:
        return np.concatenate([unit["value"] for unit in client.forward(uneven_units(4), "critic", value=True)])

    def learn(client: Client) -> None:
        units = uneven_units(4)
        client.forward_backward(units, lambda _, o: {"value": o["value"] - 1}, model_id="critic", value=True)
        client.step("critic", learning_rate=0.02)

    assert len(uneven_units(4)) > 1, "both ranks have a unit"
    for client in (engine.client, ranked.client):
        create(client, "critic", role=pb.ROLE_CRITIC, dtype="bfloat16")
        assert not values(client).any()
        for _ in range(5):
            learn(client)
    expected, found = values(engine.client), values(ranked.client)
    assert np.abs(expected).min() > 0.05
    # Differences of the five steps' gradients add up in the weights.
    np.testing.assert_allclose(found, expected, atol=math.sqrt(5) * tolerance("bfloat16", np.abs(expected).max()))
    ranked.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"), model_ids=["critic"])
    head = {
        name: tensor
        for name, tensor in load_file(tmp_path / "c/models/0/weights.safetensors").items()
        if "value_head" in name
    }
    assert {(tuple(tensor.shape), str(tensor.dtype)) for tensor in head.values()} == {
        ((32,), "torch.float32"),
        ((1,), "torch.float32"),
    }


def test_a_mistake_is_answered_and_changes_nothing(ranked: RankedEngine, tmp_path: Path) -> None:
    with pytest.raises(EngineCallError) as caught:
        ranked.client.numbered("CreateModel", pb.CreateModelRequest, model_id="other", directory=str(tmp_path / "none"))
    assert caught.value.code == "MODEL_DIRECTORY_MISSING"
    create(ranked.client, "other")


def test_a_full_disk_holds_up_no_rank(ranked: RankedEngine, tmp_path: Path) -> None:
    """Rank 0 can no longer write, while the others take part in gathering what it would have written."""
    create(ranked.client, "full")
    leader = ranked.ready["pid"]
    soft, hard = resource.prlimit(leader, resource.RLIMIT_FSIZE)
    resource.prlimit(leader, resource.RLIMIT_FSIZE, (2000, hard))
    try:
        for call, request in (("Save", pb.SaveRequest), ("Export", pb.ExportRequest)):
            model = {"model_ids": ["full"]} if call == "Save" else {"model_id": "full"}
            with pytest.raises(EngineCallError) as caught:
                ranked.client.numbered(call, request, directory=str(tmp_path / call), **model)
            assert caught.value.code == "WRITE_FAILED"
    finally:
        resource.prlimit(leader, resource.RLIMIT_FSIZE, (soft, hard))
    ranked.client.numbered("Save", pb.SaveRequest, directory=str(tmp_path / "c"), model_ids=["full"])


def test_no_rank_is_left_behind(ranked: RankedEngine) -> None:
    pids = rank_pids(ranked)
    assert len(pids) == 2
    if ranked.strategy == "ddp":
        # After the exit of a rank the engine ends and reports the rank and the cause.
        os.kill(max(pids - {ranked.ready["pid"]}), signal.SIGKILL)
        assert ranked.process.wait(timeout=120) == 1
        assert ranked.process.stdout is not None
        message = json.loads(ranked.process.stdout.readline())
        killed = max(pids - {ranked.ready["pid"]})
        assert message == {"failed": {"because": f"rank 1 (process {killed}) was killed by SIGKILL"}}
    else:
        # After SIGKILL the engine cannot report its own end.
        ranked.process.kill()
        # The fixture asks an engine that has not ended to release its models.
        ranked.process.wait(timeout=120)
    assert gone(pids)


def rank_pids(engine: RankedEngine) -> set[int]:
    """Returns the processes of the ranks: children of the agent."""
    children = Path(f"/proc/{engine.process.pid}/task/{engine.process.pid}/children")
    if not children.exists():
        pytest.skip("this system does not list the children of a process")
    return {int(pid) for pid in children.read_text().split()}


def gone(pids: set[int]) -> bool:
    """Whether all of `pids` end."""
    for _ in range(6000):
        if not any(running(pid) for pid in pids):
            return True
        time.sleep(0.01)
    return False


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
