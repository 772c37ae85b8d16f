"""Writes everything that a bit-identical continuation needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from mrlm_engine.checkpoint.directory import atomic_directory
from mrlm_engine.checkpoint.manifest import write_manifest
from mrlm_engine.device import dtype_name
from mrlm_engine.models.held import HeldModel
from mrlm_engine.models.tokenizer_files import write_tokenizer_files
from mrlm_engine.training.learner import Learner

WEIGHTS = "weights.safetensors"
OPTIMIZER = "optimizer.safetensors"
GRADIENTS = "gradients.safetensors"
RANDOM = "random.safetensors"
CONFIG = "config.json"
TOKENIZER = "tokenizer"


def save_checkpoint(target: Path, learners: list[Learner], last_call: int) -> tuple[int, str]:
    """Writes `target`; bytes written and the manifest's checksum. Models are written in the order of `learners`."""
    with atomic_directory(target) as directory:
        save_file(random_state(), directory / RANDOM)
        models = []
        for i, learner in enumerate(learners):
            folder = directory / "models" / str(i)
            folder.mkdir(parents=True)
            with learner.held.lock:
                models.append({"folder": f"models/{i}", **_save_model(learner, folder)})
        return write_manifest(directory, {"last_call": last_call, "models": models})


def random_state() -> dict[str, torch.Tensor]:
    """State of torch's global generators."""
    state = {"cpu": torch.random.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state()
    return state


def model_tensors(held: HeldModel) -> dict[str, torch.Tensor]:
    """Parameters and persistent buffers by name, tied ones once."""
    state = {f"module.{name}": tensor for name, tensor in held.module.state_dict().items()}
    if held.value_head is not None:
        state.update({f"value_head.{name}": tensor for name, tensor in held.value_head.state_dict().items()})
    seen: set[tuple[int, tuple[int, ...]]] = set()
    unique = {}
    for name, tensor in state.items():
        identity = (tensor.data_ptr(), tuple(tensor.shape))
        if tensor.numel() and identity in seen:
            continue
        seen.add(identity)
        unique[name] = tensor
    return unique


def _save_model(learner: Learner, folder: Path) -> dict[str, Any]:
    held = learner.held
    (folder / CONFIG).write_text(held.config.to_json_string(use_diff=False), "utf-8")
    if held.tokenizer_files:
        (folder / TOKENIZER).mkdir()
        write_tokenizer_files(held.tokenizer_files, folder / TOKENIZER)
    if held.adapter_off is None:
        _write(folder / WEIGHTS, model_tensors(held))
    if held.trainable:
        _write(folder / OPTIMIZER, learner.optimizer.state())
        _write(folder / GRADIENTS, {name: gradient for name, _, gradient in learner.gradients.tensors()})
    return {
        "model_id": held.model_id,
        "role": int(held.role),
        "dtype": dtype_name(held.dtype),
        "trainable": held.trainable,
        "float32_head": held.float32_head,
        "gradient_checkpointing": held.gradient_checkpointing,
        "micro_batch_tokens": held.micro_batch_tokens,
        "lora": held.lora,
        "adapter_off": None if held.adapter_off is None else held.adapter_off.model_id,
        "value_head": held.value_head is not None,
        "step": held.step,
        # A sampler made after Load has the trainer's weights. Whether they had been published is for the client to know.
        "version": held.version,
        "accumulated_calls": learner.accumulated_calls,
    }


def _write(path: Path, tensors: dict[str, torch.Tensor]) -> None:
    save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, path)
