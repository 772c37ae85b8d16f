"""Run in a separate process: passes under a limit of the address space, so that allocations really fail.

Prints the result of each as a line of JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import queue
import resource
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from client import decode, sequence
from tiny import QWEN2, create_request

from mrlm_engine.device import choose_device
from mrlm_engine.errors import EngineError
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.service import models
from mrlm_engine.service.forward import forward
from mrlm_engine.service.forward_backward import forward_backward
from mrlm_engine.service.state import EngineState
from mrlm_engine.settings import EngineSettings

MIB = 1 << 20
# Megabytes that the process may grow by. A pass needs some 40 with all tokens at once, and 10 with an eighth of them.
# Stacks and arenas of threads that have ended are room beside these: hence limits below the present size.
# The steps are smaller than the distance of both needs, so that one of them stands between.
ROOMS_MIB = range(48, -160, -8)
# A wide feed-forward: much memory and little work for each token.
CONFIG: dict[str, Any] = {**QWEN2, "hidden_size": 64, "intermediate_size": 2048, "max_position_embeddings": 2048}
# Float32 is computed by the hot path, bfloat16 by transformers.
CASES = [
    ("bfloat16", "group", True),
    ("float32", "units", True),
    ("float32", "lone", False),
]


def units_of(kind: str, vocabulary: int) -> list[pb.Unit]:
    """Returns eight sequences of 200 tokens, as eight units or one unit, or a single sequence of 1,600 tokens."""
    draw = np.random.default_rng(3)
    lengths = [1600] if kind == "lone" else [200] * 8
    sequences = []
    for length in lengths:
        tokens = draw.integers(2, vocabulary, length)
        gradients = draw.standard_normal(length - 1)
        sequences.append(sequence(tokens.tolist(), [0] + [1] * (length - 1), grad_logprob=gradients.tolist()))
    return [pb.Unit(sequences=sequences)] if kind == "group" else [pb.Unit(sequences=[one]) for one in sequences]


def run_pass(state: EngineState, call: int, units: list[pb.Unit], with_client: bool) -> pb.ForwardBackwardDone:
    """Runs one pass; the client's gradients are a function of the outputs."""
    kind = pb.LOSS_KIND_CLIENT if with_client else pb.LOSS_KIND_LINEAR
    selection = pb.OutputSelection(logprob=True)
    opening = pb.ForwardBackwardOpen(call=call, model_id="policy", outputs=selection, loss=kind, normalizer=100.0)
    answers: queue.SimpleQueue[pb.ForwardBackwardRequest | None] = queue.SimpleQueue()

    def requests() -> Iterator[pb.ForwardBackwardRequest]:
        yield pb.ForwardBackwardRequest(open=opening, units=units, end=True)
        while (answer := answers.get()) is not None:
            yield answer

    done = None
    for response in forward_backward(state, requests()):
        if response.HasField("done"):
            done = response.done
        elif with_client:
            outputs = [decode(unit) for unit in response.micro_batch.units]
            gradients = [pb.UnitGradients(logprob=(-np.exp(0.5 * o["logprob"])).tobytes()) for o in outputs]
            message = pb.MicroBatchGradients(micro_batch=response.micro_batch.micro_batch, units=gradients)
            answers.put(pb.ForwardBackwardRequest(gradients=[message]))
    answers.put(None)
    assert done is not None
    return done


def gradients_of(state: EngineState) -> str:
    """Returns the SHA-256 of the accumulated gradients."""
    digest = hashlib.sha256()
    for _, _, gradient in state.trainable_model("policy").gradients.tensors():
        digest.update(gradient.numpy().tobytes())
    return digest.hexdigest()


def outputs_of(state: EngineState, units: list[pb.Unit]) -> str:
    """Returns the SHA-256 of the outputs of an evaluation."""
    opening = pb.ForwardOpen(model_id="policy", outputs=pb.OutputSelection(logprob=True))
    request = pb.ForwardRequest(open=opening, units=units, end=True)
    found = [unit.logprob for response in forward(state, iter([request])) for unit in response.units]
    return hashlib.sha256(b"".join(found)).hexdigest()


def address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def limited_memory(room: int) -> Iterator[None]:
    """Limits the growth of the process to `room` bytes inside the block."""
    ctypes.CDLL(None).malloc_trim(0)
    resource.setrlimit(resource.RLIMIT_AS, (address_space() + room, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def compare(dtype: str, kind: str, with_client: bool) -> dict[str, Any]:
    """Compares a pass in which memory runs out with a pass under the budget that it ended with."""
    state = EngineState(EngineSettings(), choose_device("cpu", "deterministic", 1))
    models.create(state, create_request("policy", json.dumps(CONFIG), dtype=dtype, micro_batch_tokens=1600))
    units = units_of(kind, CONFIG["vocab_size"])
    trainable = state.trainable_model("policy")
    # Kernels are compiled for each number of rows on its first use. That, too, fails without memory, and oneDNN does
    # not get over it.
    for call, tokens in enumerate((1600, 799, 398, 199), 1):
        trainable.lower_budget(tokens, trainable.max_waiting)
        outputs_of(state, units)
        run_pass(state, call, units, with_client)
        trainable.clear()
    trainable.lower_budget(1600, trainable.max_waiting)
    random_state = torch.get_rng_state()
    for call, room in enumerate(ROOMS_MIB, 5):
        with limited_memory(room * MIB):
            try:
                done = run_pass(state, call, units, with_client)
            except EngineError as error:
                return {"code": error.code, "message": error.message}
            if done.memory_retries > 0:
                evaluated = outputs_of(state, units)
                break
        trainable.clear()
    else:
        raise AssertionError("Memory never ran out.")
    found = gradients_of(state)
    trainable.clear()
    run_pass(state, 5 + len(ROOMS_MIB), units, with_client)
    return {
        "retries": done.memory_retries,
        "budget": done.micro_batch_tokens,
        "lowered": trainable.model.micro_batch_tokens,
        "micro_batches": done.micro_batches,
        "equal": gradients_of(state) == found,
        "evaluates": outputs_of(state, units) == evaluated,
        "random": torch.equal(random_state, torch.get_rng_state()),
    }


if __name__ == "__main__":
    # M_MMAP_THRESHOLD: tensors get their own mappings, and leave no holes that later ones would find room in.
    # M_ARENA_MAX: threads do not reserve 64 MiB each.
    for option, value in [(-3, 128 << 10), (-8, 1)]:
        ctypes.CDLL(None).mallopt(option, value)
    for dtype, kind, with_client in CASES:
        result = compare(dtype, kind, with_client)
        print(json.dumps({"dtype": dtype, "kind": kind, "client": with_client, **result}), flush=True)
