# ruff: noqa: E402 - the path and the process are prepared before the imports
"""Tokens a second of the engine on one device, compared with transformers' `generate` and a bare PyTorch training step.

    python benchmarks/gpu/bench.py [--device cuda|cpu] [--tiny] [--profile DIRECTORY]
    python benchmarks/gpu/bench.py --model DIRECTORY --rows N --prompt N --new N        # decoding alone

The last line is JSON: {bench, machine, figures}. Needs torch, transformers and the packages of the engine; nothing is
downloaded; weights are random without --model. Both sides compute the same model in the same number format on the same
token ids, and take turns, so that a drifting clock hits both.
"""

from __future__ import annotations

import argparse
import copy
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "algorithms/engine-torch/python"))

from mrlm_engine.process import prepare_process

# As in the engine's own process; must run before torch is imported.
prepare_process()

import numpy as np
import torch
import transformers

from mrlm_engine.batching.unit import TokenSequence, TokenUnit, UnitGradients
from mrlm_engine.device import choose_device, dtype_name
from mrlm_engine.logprobs.selection import Selection
from mrlm_engine.models import LoadedModel, ModelRegistry, create_model
from mrlm_engine.models.placement import Placement
from mrlm_engine.models.request import FromDirectory, FromRandom, ModelRequest, Role
from mrlm_engine.models.weights import inference_weights
from mrlm_engine.sampling.choose_decoder import choose_decoder
from mrlm_engine.sampling.scheduler import Scheduler, SchedulerLimits
from mrlm_engine.sampling.sequence import SampledSequence, SampledTokens, SampleFinish, SamplingSettings
from mrlm_engine.training.micro_batch import LanesMicroBatch
from mrlm_engine.training.optimizer import AdamWParameters
from mrlm_engine.training.trainable_model import TrainableModel

# Sizes of Qwen2.5-0.5B, and of a model that a CPU computes in seconds.
LARGE: dict[str, Any] = {
    "vocab_size": 151936,
    "hidden_size": 896,
    "intermediate_size": 4864,
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
TINY: dict[str, Any] = {
    "vocab_size": 211,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
}
SELECTION = Selection(logprob=True, entropy=False, value=False, final_value=False)


class Work:
    """A model, prompts and completions of one length, and the four things that are timed."""

    def __init__(
        self, device: torch.device, *, tiny: bool, directory: str, sizes: list[int | None], dtype: str
    ) -> None:
        config = {"model_type": "qwen2", "tie_word_embeddings": True, **(TINY if tiny else LARGE)}
        default = (8, 8, 16) if tiny else (256, 128, 256)
        self.rows, self.prompt, self.new = (given or size for given, size in zip(sizes, default, strict=True))
        self.units = 2 if tiny else 32
        self.dtype = dtype
        self.device = device
        self.model = self._model(FromDirectory(directory) if directory else FromRandom(json.dumps(config), seed=0))
        self.bare = copy.deepcopy(self.model.module).train()
        self.bare.requires_grad_(True)
        # A vocabulary's worth of different prompts: none is shared.
        generator = np.random.default_rng(0)
        self.prompts = generator.integers(2, self.model.vocab_size, (self.rows, self.prompt))
        self.texts = generator.integers(2, self.model.vocab_size, (self.units, self.prompt + self.new))
        self.decoder = choose_decoder(self.model, inference_weights(self.model))
        self.trainable = TrainableModel(self.model)
        self.adamw = torch.optim.AdamW(self.bare.parameters(), lr=1e-5, foreach=True)

    def _model(self, source: FromRandom | FromDirectory) -> LoadedModel:
        request = ModelRequest("policy", source, Role.POLICY, trainable=True, dtype=self.dtype)
        return create_model(request, ModelRegistry(), Placement(self.device))

    @torch.inference_mode()
    def sample(self) -> int:
        """Samples with the engine; returns the number of tokens."""
        limits = SchedulerLimits(rows=self.rows, state_bytes=1 << 40)
        runner = Scheduler(self.decoder, self.device, self.model.max_positions, limits)
        done: list[int] = []

        def deliver(result: SampledTokens | SampleFinish) -> None:
            done.append(len(result.tokens))

        settings = SamplingSettings(max_tokens=self.new)
        runner.submit(SampledSequence(i, row, settings, i, deliver) for i, row in enumerate(self.prompts))
        while runner.busy:
            runner.advance(0)
        return sum(done)

    @torch.inference_mode()
    def generate(self) -> int:
        """Samples from the same module with `generate` of transformers; returns the number of tokens."""
        ids = torch.from_numpy(self.prompts).to(self.device)
        forced = {"max_new_tokens": self.new, "min_new_tokens": self.new, "pad_token_id": 0}
        found = self.model.module.generate(ids, attention_mask=torch.ones_like(ids), do_sample=True, top_k=0, **forced)
        return int(found.shape[0] * (found.shape[1] - ids.shape[1]))

    def learn(self) -> int:
        """Runs a training step of the engine; returns its number of tokens: outputs, gradients from outside,
        backward, clipping, AdamW.
        """
        positions = np.arange(self.prompt, self.prompt + self.new)
        units = [TokenUnit(i, (TokenSequence(row.astype(np.int32), positions),)) for i, row in enumerate(self.texts)]
        self.trainable.begin_pass()
        for share in self.trainable.plan(units, False, 1):
            micro_batch = LanesMicroBatch(self.trainable, share[0], SELECTION, keep_graph=True)
            micro_batch.outputs()
            gradients = [UnitGradients(logprob=-np.ones(unit.outputs, np.float32)) for unit in share[0]]
            micro_batch.backward(gradients, float(self.units * self.new))
        self.trainable.commit_pass()
        self.trainable.step(AdamWParameters(1e-5, 0.9, 0.999, 1e-8, 0.01), 1.0)
        return int(self.texts.size)

    def bare_step(self) -> int:
        """Runs the same step in plain PyTorch; returns its number of tokens: full logits of the completion, in
        micro-batches of 8 sequences.
        """
        for texts in np.array_split(self.texts, max(1, self.units // 8)):
            ids = torch.from_numpy(texts).to(self.device)
            logits = self.bare(input_ids=ids, logits_to_keep=self.new + 1, use_cache=False).logits[:, :-1].float()
            picked = torch.log_softmax(logits, -1).gather(2, ids[:, self.prompt :, None])
            (-picked.sum() / (self.units * self.new)).backward()
        torch.nn.utils.clip_grad_norm_(self.bare.parameters(), 1.0)
        self.adamw.step()
        self.adamw.zero_grad(set_to_none=True)
        return int(self.texts.size)


def measure(device: torch.device, sides: dict[str, Callable[[], int]], rounds: int) -> dict[str, float]:
    """Returns the tokens a second of each side: the median of `rounds`, in turns, after a round that is not counted."""
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, side in sides.items():
            started = time.perf_counter()
            tokens = side()
            if device.type == "cuda":
                torch.cuda.synchronize()
            if number:
                rates[name].append(tokens / (time.perf_counter() - started))
    return {name: round(statistics.median(found), 1) for name, found in rates.items()}


def write_profile(work: Work, directory: Path) -> None:
    """Writes tables of the operations of one wave and one training step, by time on the device, and traces for a
    viewer.
    """
    directory.mkdir(parents=True, exist_ok=True)
    activities = [torch.profiler.ProfilerActivity.CPU]
    column = "self_cpu_time_total"
    if work.device.type == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
        column = "self_cuda_time_total"
    for name, side in (("sample", work.sample), ("learn", work.learn)):
        with torch.profiler.profile(activities=activities) as profile:
            side()
        table = profile.key_averages().table(sort_by=column, row_limit=25, max_name_column_width=60)
        (directory / f"{name}.txt").write_text(table, "utf-8")
        print(f"{name}, by {column}:\n{table}")


def machine(device: torch.device, dtype: torch.dtype) -> dict[str, Any]:
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or platform.machine()
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    return {"device": name, "dtype": dtype_name(dtype), "threads": torch.get_num_threads(), **versions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument("--mode", choices=("throughput", "deterministic"), default="throughput")
    parser.add_argument("--tiny", action="store_true", help="a model and lengths that a CPU computes in seconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--profile", type=Path, help="folder for tables of torch.profiler; nothing is timed")
    parser.add_argument("--dtype", default="auto", help="number format of the weights")
    parser.add_argument("--model", default="", help="Hugging Face directory; only decoding is timed")
    for name, what in (("rows", "sequences"), ("prompt", "tokens of a prompt"), ("new", "tokens of an answer")):
        parser.add_argument(f"--{name}", type=int, help=f"number of {what}")
    given = parser.parse_args()
    device = choose_device(given.device, given.mode).device
    work = Work(
        device, tiny=given.tiny, directory=given.model, sizes=[given.rows, given.prompt, given.new], dtype=given.dtype
    )
    if given.profile is not None:
        write_profile(work, given.profile)
        return
    sampling = {"engine": work.sample, "generate": work.generate}
    training = {"engine": work.learn, "bare": work.bare_step}
    figures = {"sampled_tokens_per_s": measure(device, sampling, given.rounds), "mode": given.mode}
    if not given.model:
        figures["trained_tokens_per_s"] = measure(device, training, given.rounds)
    print(json.dumps({"bench": "gpu", "machine": machine(device, work.model.dtype), "figures": figures}))


if __name__ == "__main__":
    main()
