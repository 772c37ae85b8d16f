"""Prints the engine's figures on one device as a JSON object: correctness, memory, launches and speed.

scripts/gpu.py runs it with this package's parent folders on PYTHONPATH, and has the limits. The model has random
weights and the shape of Qwen2.5-0.5B, or with --small one that a CPU computes in seconds.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from client import sequence
from fake_gpu.real_size import SIZES, answers
from fake_gpu.work import unit_of
from memory.account import Account
from tiny import create_request

from mrlm_engine.backbone.choose_layout import choose_layout
from mrlm_engine.backbone.transformers_backbone import Layout, TransformersBackbone
from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.compute.clock import DeviceTimer
from mrlm_engine.device import DeviceSettings, choose_device
from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb
from mrlm_engine.llama.decoder import LlamaDecoder
from mrlm_engine.llama.probe import tolerance
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.memory.estimate import estimate, total
from mrlm_engine.memory.plan import Setting
from mrlm_engine.models import LoadedModel, ModelRegistry, create_model
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling import Sampler
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.scheduler import Scheduler, SchedulerLimits
from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens, SampleFinish, SamplingSettings
from mrlm_engine.service import models
from mrlm_engine.service.codec.models import model_request
from mrlm_engine.service.forward_backward import forward_backward
from mrlm_engine.service.memory import Target, plan_model
from mrlm_engine.service.state import EngineState
from mrlm_engine.settings import EngineSettings
from mrlm_engine.training.micro_batch import LanesMicroBatch, MicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.trainable_model import TrainableModel

SMALL: dict[str, Any] = {
    "vocab_size": 4000,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": True,
}
SELECTION = Selection(logprob=True, entropy=False, value=False, final_value=False)
ADAMW = AdamWParameters(1e-5, 0.9, 0.999, 1e-8, 0.01)
# Dense FLOPs a second in bfloat16 by the makers' data sheets.
PEAK_FLOPS = {"B200": 2.25e15, "H200": 9.89e14, "H100": 9.89e14, "A100": 3.12e14, "L40S": 3.62e14, "L4": 1.21e14}
ROUNDS = 3
Figures = dict[str, float]


class Bench:
    """A device, a shape, and the sizes of the work."""

    def __init__(self, settings: DeviceSettings, *, small: bool) -> None:
        self.settings, self.device = settings, settings.device
        self.config = json.dumps({"model_type": "qwen2", **(SMALL if small else SIZES["0.5B"])})
        self.dtype = "bfloat16" if self.device.type == "cuda" else "float32"
        # Sequences, tokens of a prompt and drawn tokens.
        self.rows, self.prompt, self.new = (8, 24, 8) if small else (128, 512, 128)
        # Answers of a group, and the longest one.
        self.answers, self.longest = (6, 48) if small else (16, 1024)
        # Waves of (sequences, tokens of a prompt) and the bytes that their keys and values may take.
        self.waves, self.cache = (((4, 200), (64, 20)), 1 << 20) if small else (((64, 8000), (1024, 512)), 8 << 30)
        self.draw = np.random.default_rng(0)

    def model(self, **fields: Any) -> LoadedModel:
        request = create_request("policy", self.config, dtype=self.dtype, **fields)
        return create_model(model_request(request), ModelRegistry(), Placement(self.device))

    def trainable(self, **fields: Any) -> TrainableModel:
        """Returns a model that the transformers module trains, as a GPU does."""
        trainable = TrainableModel(self.model(**fields))
        if not isinstance(trainable.backbone, TransformersBackbone):
            model = trainable.model
            trainable.backbone = TransformersBackbone(model)
            trainable.backbone.layout = choose_layout(trainable.backbone, tolerance(model.dtype, 2))
        return trainable

    def prompts(self, rows: int, length: int) -> list[npt.NDArray[np.int64]]:
        return [self.draw.integers(2, 1000, length) for _ in range(rows)]

    def seconds(self, work: Callable[[], object], rounds: int = 1) -> float:
        """Returns the median of the seconds of `work` on the device."""
        found = []
        for _ in range(rounds):
            self.wait()
            started = time.perf_counter()
            work()
            self.wait()
            found.append(time.perf_counter() - started)
        return float(np.median(found))

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    @contextmanager
    def peak(self) -> Iterator[Callable[[], int]]:
        """Yields a function that returns the most bytes of tensors inside the block."""
        if self.device.type != "cuda":
            with Account() as account:
                yield lambda: account.peak
            return
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        yield lambda: torch.cuda.max_memory_allocated() - before


class Sampled:
    """A scheduler over the weights of a model, which delivers into `ends`."""

    def __init__(self, bench: Bench, model: LoadedModel, state_bytes: int = 1 << 40) -> None:
        decoder = choose_decoder(model, inference_weights(model))
        assert isinstance(decoder, LlamaDecoder)
        self.decoder = decoder
        limits = SchedulerLimits(rows=1024, state_bytes=state_bytes)
        self.runner = Scheduler(decoder, bench.device, model.max_positions, limits)
        self.ends: dict[int, SampleFinish] = {}

    def submit(self, prompts: list[npt.NDArray[np.int64]], new: int) -> None:
        settings = SamplingSettings(max_tokens=new)
        self.runner.submit(SampledSequence(i, row, settings, i, self._deliver) for i, row in enumerate(prompts))

    def _deliver(self, result: SampledTokens | SampleFinish) -> None:
        if isinstance(result, SampleFinish):
            self.ends[result.id] = result

    def advance(self) -> None:
        with torch.inference_mode():
            self.runner.advance(0)

    def finish(self) -> None:
        while self.runner.busy:
            self.advance()

    @property
    def cache_bytes(self) -> int:
        return sum(layer.nbytes for layer in self.decoder._cache.data)


def sampling(bench: Bench) -> Figures:
    """Speed of prefill and decoding, waits of the host in a step, and the trainer's view of the drawn tokens."""
    trainable = bench.trainable(float32_head=True)
    prompts = bench.prompts(bench.rows, bench.prompt)
    for is_measured in (False, True):
        sampled = Sampled(bench, trainable.model)
        sampled.submit(prompts, bench.new if is_measured else 2)
        prefill = bench.seconds(sampled.advance)
        syncs = host_waits(bench, sampled.advance) if is_measured else 0
        decode = bench.seconds(sampled.finish)
    ends = [sampled.ends[i] for i in range(bench.rows)]
    units = [
        TokenUnit(i, (TokenSequence(np.concatenate((row, end.tokens)).astype(np.int32), drawn_positions(row, end)),))
        for i, (row, end) in enumerate(zip(prompts, ends, strict=True))
    ]
    trainer = np.concatenate([unit.logprob for unit in outputs_of(trainable, units) if unit.logprob is not None])
    difference = trainer.astype(np.float64) - np.concatenate([end.logprobs for end in ends])
    return {
        "prefill_tokens_per_s": bench.rows * bench.prompt / prefill,
        "sampled_tokens_per_s": bench.rows * (bench.new - 1) / (prefill + decode),
        # The first token comes with the prompt, the second with the step that was watched.
        "decode_tokens_per_s": bench.rows * (bench.new - 2) / decode,
        "decode_host_waits": syncs,
        # Schulman's estimator k3 of the divergence of what is trained from what has sampled, in nats.
        "mismatch_kl": float((np.exp(difference) - 1 - difference).mean()),
        "mismatch_largest": float(np.abs(difference).max()),
    }


def drawn_positions(prompt: npt.NDArray[np.int64], end: SampleFinish) -> npt.NDArray[np.int64]:
    return np.arange(len(prompt), len(prompt) + len(end.tokens))


def outputs_of(trainable: TrainableModel, units: list[TokenUnit]) -> list[Any]:
    """Returns the outputs of units within the engine's own token budget."""
    found: dict[int, Any] = {}
    with torch.no_grad():
        for share in trainable.plan(units, False, 1):
            outputs = LanesMicroBatch(trainable, share[0], SELECTION, keep_graph=False).outputs()
            found |= {unit.index: output for unit, output in zip(share[0], outputs, strict=True)}
    return [found[unit.index] for unit in units]


def host_waits(bench: Bench, step: Callable[[], None]) -> int:
    """Returns 1 if the host waits for the device inside a step, except for the event of the drawn tokens."""
    if bench.device.type != "cuda":
        step()
        return 0
    torch.cuda.set_sync_debug_mode("error")
    try:
        step()
    except RuntimeError as error:
        print(f"a decode step: {error}", file=sys.stderr)
        return 1
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return 0


def cache(bench: Bench) -> Figures:
    """The largest cache in waves of long prompts, then of many short ones, relative to its limit."""
    sampled = Sampled(bench, bench.model(), bench.cache)
    most = 0
    for rows, length in bench.waves:
        sampled.submit(bench.prompts(rows, length), 4)
        while sampled.runner.busy:
            sampled.advance()
            most = max(most, sampled.cache_bytes)
    return {"cache_over_limit": most / bench.cache}


def learning(bench: Bench) -> Figures:
    """Packed rows against padded ones, a float32 head against one in 16 bits, and the use of the device."""
    unit = unit_of([(bench.prompt, length) for length in answers(bench.answers, bench.longest)])
    assert unit.gradients is not None
    tokens = sum(len(one.tokens) for one in unit.sequences)
    seconds: dict[tuple[Layout, bool], float] = {}
    values: dict[Layout, Any] = {}
    for float32_head in (False, True):
        trainable = bench.trainable(float32_head=float32_head)
        backbone = trainable.backbone
        assert isinstance(backbone, TransformersBackbone)
        chosen = backbone.layout
        for layout in (Layout.MASKED, Layout.PACKED) if not float32_head else (Layout.PACKED,):
            backbone.layout = layout
            values[layout] = learn(trainable, unit)
            seconds[layout, float32_head] = bench.seconds(functools.partial(learn, trainable, unit), ROUNDS)
    packed = seconds[Layout.PACKED, False]
    timer = DeviceTimer(bench.device)
    with timer.section():
        wall = bench.seconds(functools.partial(learn, trainable, unit))
    parameters = sum(p.numel() for _, p in trainable.model.named_parameters())
    found = {
        "is_packed": float(chosen is Layout.PACKED),
        "packed_logprob_difference": float(np.abs(values[Layout.PACKED] - values[Layout.MASKED]).max()),
        "packed_speedup": seconds[Layout.MASKED, False] / packed,
        "float32_head_time_ratio": seconds[Layout.PACKED, True] / packed,
        "trained_tokens_per_s": tokens / packed,
        "timed_over_wall": timer.take(wait=True) / wall,
    }
    peak = peak_flops(bench)
    # 2 FLOPs for each weight and token forward, 4 backward; attention is left out.
    return found | ({"mfu": 6 * parameters * tokens / packed / peak} if peak else {})


def learn(trainable: TrainableModel, unit: TokenUnit) -> Any:
    """Runs a step of the engine over `unit`; returns the log-probabilities before it."""
    assert unit.gradients is not None
    trainable.begin_pass()
    micro_batch = MicroBatch(trainable, [unit], SELECTION, keep_graph=True)
    logprobs = micro_batch.outputs()[0].logprob
    micro_batch.backward([UnitGradients(unit.gradients.logprob)], float(unit.outputs))
    del micro_batch
    trainable.commit_pass()
    trainable.step(ADAMW, 1.0)
    return logprobs


def peak_flops(bench: Bench) -> float:
    name = bench.settings.name
    return next((flops for key, flops in PEAK_FLOPS.items() if key in name), 0.0)


def kernels(bench: Bench) -> Figures:
    """Kernels of one decode step and of a packed pass, by torch.profiler; on a CPU its operations."""
    sampled = Sampled(bench, bench.model())
    sampled.submit(bench.prompts(bench.rows, bench.prompt), 16)
    for _ in range(3):
        sampled.advance()
    steps = 4

    def decode() -> None:
        for _ in range(steps):
            sampled.advance()

    step = profiled(bench, decode)
    trainable = bench.trainable()
    unit = unit_of([(bench.prompt, length) for length in answers(bench.answers, bench.longest)])
    learn(trainable, unit)
    names = [name for name, _ in profiled(bench, lambda: learn(trainable, unit))]
    return {
        "decode_launches": len(step) / steps,
        "decode_kernel_ms": sum(microseconds for _, microseconds in step) / steps / 1000,
        "pass_launches": float(len(names)),
        "flash_kernels": float(sum("flash" in name.lower() for name in names)),
        "masked_kernels": float(sum("fmha_cutlass" in name or "efficient_attention" in name for name in names)),
    }


def profiled(bench: Bench, work: Callable[[], object]) -> list[tuple[str, float]]:
    """Returns name and microseconds of each kernel."""
    is_cuda = bench.device.type == "cuda"
    activities = [torch.profiler.ProfilerActivity.CUDA if is_cuda else torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities) as profile:
        work()
        bench.wait()
    # A launch on the host has an event too, in CUDA's runtime.
    events = [event for event in profile.events() or [] if not event.name.startswith("cu")]
    return [(event.name, event.device_time if is_cuda else event.self_cpu_time_total) for event in events]


def memory(bench: Bench) -> Figures:
    """The engine's estimate of two training steps, relative to their peak."""
    length, rows = (257, 8) if bench.longest < 100 else (1025, 16)
    tokens = (length - 1) * rows
    mask, gradients = [0] + [1] * (length - 1), [1.0] * (length - 1)
    made = [sequence(row.tolist(), mask, grad_logprob=gradients) for row in bench.prompts(rows, length)]
    units = [pb.Unit(sequences=[one]) for one in made]
    state = EngineState(EngineSettings(), bench.settings)
    create = create_request("policy", bench.config, dtype=bench.dtype, micro_batch_tokens=tokens)
    plan = plan_model(state, Target.of(state, pb.EstimateMemoryRequest()), model_request(create), {})
    setting = Setting(bench.device.type, length, waiting_graphs=1)
    opening = pb.ForwardBackwardOpen(model_id="policy", outputs=pb.OutputSelection(logprob=True), normalizer=1.0)
    opening.loss = pb.LOSS_KIND_LINEAR
    with bench.peak() as peak:
        models.create(state, create)
        for _ in range(2):
            list(forward_backward(state, iter([pb.ForwardBackwardRequest(open=opening, units=units, end=True)])))
            state.trainable_model("policy").step(ADAMW, 1.0)
    return {"peak_gib": peak() / 2**30, "estimate_over_peak": total(estimate([plan], setting, tokens)) / peak()}


def publishing(bench: Bench) -> Figures:
    """Seconds of a publication in process, with its two checksums; and whether the new weights are drawn from."""
    model = bench.model()
    sampler = Sampler(model, deterministic=False, limits=SchedulerLimits(rows=8, state_bytes=1 << 30))
    before = sampler.checksum
    with torch.no_grad():
        for parameter in model.module.parameters():
            parameter.add_(torch.full_like(parameter, 1e-2))
    seconds = bench.seconds(sampler.publish)
    is_changed = sampler.checksum != before
    sampler.close()
    return {"publish_seconds": seconds, "publish_changes_weights": float(is_changed)}


PARTS = (sampling, cache, learning, kernels, memory, publishing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    bench = Bench(choose_device(given.device, "throughput"), small=given.small)
    found: Figures = {}
    for part in PARTS:
        started = time.perf_counter()
        try:
            found |= part(bench)
        except Exception as error:  # Figures of the other parts are still of use; the missing ones are faults.
            print(f"{part.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
        if bench.device.type == "cuda":
            torch.cuda.empty_cache()
        print(f"{part.__name__}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    work = {"rows": bench.rows, "prompt": bench.prompt, "new": bench.new, "dtype": bench.dtype}
    print(json.dumps({"device": bench.settings.name, "config": bench.config, "work": work, "figures": found}))


if __name__ == "__main__":
    main()
