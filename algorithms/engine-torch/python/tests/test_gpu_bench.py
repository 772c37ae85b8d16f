"""The benchmark of a GPU runs, with a model that a CPU computes at once."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from load_file import load_file

BENCH = Path(__file__).resolve().parents[4] / "benchmarks/gpu/bench.py"


def test_cuda_the_benchmark_s_sides_do_the_same_work() -> None:
    bench = load_file(BENCH)
    sys.path.remove(str(BENCH.parents[2] / "algorithms/engine-torch/python"))
    work = bench.Work(torch.device("cpu"), tiny=True, directory="", sizes=[None, None, None], dtype="auto")
    assert work.sample() == work.generate() == work.rows * work.new
    before = work.model.head_weight.clone()
    assert work.learn() == work.bare_step() == work.texts.size
    # Both took a step on the same batch from the same weights.
    ours, theirs = (module.get_output_embeddings().weight for module in (work.model.module, work.bare))
    assert (ours - before).abs().max() > 1e-6
    assert torch.nn.functional.cosine_similarity((ours - before).flatten(), (theirs - before).flatten(), dim=0) > 0.9
