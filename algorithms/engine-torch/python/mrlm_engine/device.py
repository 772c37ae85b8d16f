"""Device, number format, threads and determinism of the engine."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass

import torch

from mrlm_engine.errors import EngineError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class DeviceSettings:
    """The device in use, whether equal submissions give equal bits, and the threads that compute.

    `threads` is the size of torch's intra-op pool in each of `lanes` (mrlm_engine/training/lanes.py).
    """

    device: torch.device
    deterministic: bool
    threads: int
    lanes: int = 1

    @property
    def name(self) -> str:
        """Name for messages: the GPU with its memory, or the processor with its threads."""
        if self.device.type == "cuda":
            properties = torch.cuda.get_device_properties(self.device)
            return f"{properties.name}, {properties.total_memory / 2**30:.1f} GiB"
        threads = self.threads * self.lanes
        return f"{_processor_name()}, {threads} thread{'' if threads == 1 else 's'}"


def choose_device(
    device: str = "auto", mode: str = "auto", threads: int = 0, lanes: int = 1, gpu: int = 0
) -> DeviceSettings:
    """Chooses the device ("auto": CUDA if available) and sets torch up for it.

    `mode` "auto" is deterministic on CPU and throughput on CUDA. `threads` 0 keeps torch's default. A GPU
    has one lane.
    """
    if device == "cuda" and not torch.cuda.is_available():
        raise EngineError(
            "OPTIONS_INVALID",
            "The device cuda was set, but torch finds no CUDA device.",
            "Set engine.device (--device) to auto or cpu, or install a CUDA build of torch and a driver.",
        )
    use_cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    chosen = torch.device("cuda", 0) if use_cuda else torch.device("cpu")
    deterministic = mode == "deterministic" or (mode == "auto" and not use_cuda)
    if threads > 0:
        torch.set_num_threads(threads)
    if use_cuda:
        torch.cuda.set_device(chosen)
        # TF32 would change log-probabilities by 1e-3 against other programs.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        if deterministic:
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(deterministic)
    if deterministic:
        # Filling every new tensor would cost a pass over memory. The engine reads no uninitialised memory.
        setattr(torch.utils.deterministic, "fill_uninitialized_memory", False)  # noqa: B010 - not in torch's type stubs
    return DeviceSettings(chosen, deterministic, torch.get_num_threads(), 1 if use_cuda else lanes)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """Returns the number format of `name`; for "auto" or "" float32 on CPU, and bfloat16 on a GPU that supports it."""
    if name in ("", "auto"):
        has_bfloat16 = device.type == "cuda" and torch.cuda.is_bf16_supported()
        return torch.bfloat16 if has_bfloat16 else torch.float32
    if name not in DTYPES:
        raise EngineError(
            "OPTIONS_INVALID",
            f"The engine knows no number format '{name}'.",
            f"Use one of: auto, {', '.join(DTYPES)}.",
        )
    return DTYPES[name]


def free_gpu_memory(device: torch.device) -> int:
    """Returns the bytes that no tensor uses: free memory of the GPU, and blocks that torch's allocator caches."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)


def dtype_name(dtype: torch.dtype) -> str:
    """Returns "float32" for torch.float32, and so on."""
    return str(dtype).removeprefix("torch.")


def _processor_name() -> str:
    """Returns the model name of the processor from the system, else its architecture."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
