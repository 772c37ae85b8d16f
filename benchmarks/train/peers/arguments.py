"""The command line that every peer shares."""

import argparse
import os
from pathlib import Path


def parser(description: str) -> argparse.ArgumentParser:
    """Returns a parser with the options that do not depend on the algorithm."""
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--model", type=Path, required=True, help="Hugging Face directory with the starting weights")
    result.add_argument("--data", type=Path, required=True, help="JSON file, see make_fixture.py")
    result.add_argument("--steps", type=int, default=10, help="optimizer steps that are measured")
    result.add_argument("--warmup", type=int, default=2, help="optimizer steps before them that are not")
    result.add_argument("--learning-rate", type=float, default=1e-4)
    result.add_argument("--max-grad-norm", type=float, default=1.0)
    result.add_argument("--seed", type=int, default=0)
    result.add_argument("--micro-batch", type=int, default=64, help="sequences in one forward and backward pass")
    result.add_argument("--attention", default="sdpa", choices=["sdpa", "eager"])
    return result


def add_grpo(result: argparse.ArgumentParser) -> None:
    result.add_argument("--prompts-per-step", type=int, default=32)
    result.add_argument("--group-size", type=int, default=8)
    result.add_argument("--completion-length", type=int, default=64, help="forced: neither shorter nor longer")
    result.add_argument("--epsilon", type=float, default=0.2)


def add_dpo(result: argparse.ArgumentParser) -> None:
    result.add_argument("--pairs-per-step", type=int, default=64)
    result.add_argument("--beta", type=float, default=0.5)
    result.add_argument("--precompute", action="store_true", help="reference log-probabilities before the first step")


def offline() -> None:
    """Call before importing transformers: a benchmark reads its own files and never a model hub."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_DATASETS_OFFLINE"] = "1"
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
