"""Record of the operations on the fake GPU: launches, copies to the host, FLOPs, and the peak of live memory."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

# Name of the fake device's type.
GPU = "gpu"
# Operations whose result the host waits for.
_WAITING = {
    "aten::_local_scalar_dense",
    "aten::nonzero",
    "aten::masked_select",
    "aten::is_nonzero",
    "aten::equal",
    "aten::_unique2",
    "aten::unique_dim",
}
# Size of the smallest block of CUDA's allocator.
_BLOCK = 512
# Operations that CUDA runs without a kernel.
_NO_KERNEL = ("aten::empty", "aten::detach", "aten::alias", "aten::_unsafe_view", "prim::")

_Mode: Any = TorchDispatchMode


class Watch(_Mode):  # type: ignore[misc]
    """Counts what happens on the fake GPU inside the block, in the thread that entered it.

    A copy of one number to the host is answered with 1.0, 0 or False, since a fake tensor has no numbers.
    """

    def __init__(self) -> None:
        super().__init__()
        # Copies to the host, by "file:function" of the engine.
        self.hosts: Counter[str] = Counter()
        self.operations: Counter[str] = Counter()
        self.flops = 0
        # Bytes of all storages on the device, now and at most.
        self.live = self.peak = 0
        self._storages: dict[int, int] = {}

    @property
    def launches(self) -> int:
        """Number of operations with a kernel; a fused attention or norm counts as one."""
        return self.operations.total()

    def reset(self) -> None:
        """Sets all counts to zero, and the peak to the live memory."""
        self.hosts.clear()
        self.operations.clear()
        self.flops, self.peak = 0, self.live

    def __torch_dispatch__(self, func: Any, types: Sequence[Any], args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.name()
        given = [*_tensors(args), *_tensors(kwargs.values())]
        on_device = any(tensor.device.type == GPU for tensor in given)
        if on_device and name in _WAITING:
            self.hosts[caller()] += 1
            if name == "aten::_local_scalar_dense":
                dtype = given[0].dtype
                return False if dtype == torch.bool else 1.0 if dtype.is_floating_point else 0
        if on_device and name.startswith("aten::index.") and any(t.dtype == torch.bool for t in given[1:]):
            self.hosts[caller()] += 1
        found = func(*args, **kwargs)
        results = [*_tensors((found,))]
        if on_device and name.startswith(("aten::_to_copy", "aten::copy_")) and results[0].device.type == "cpu":
            self.hosts[caller()] += 1
        for result in results:
            self._note(result)
        if on_device and not func.is_view and not name.startswith(_NO_KERNEL):
            self.operations[name] += 1
            self.flops += _flops(func, args, kwargs, found)
        return found

    def _note(self, tensor: torch.Tensor) -> None:
        if tensor.device.type != GPU:
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._storages:
            return
        size = -(-storage.nbytes() // _BLOCK) * _BLOCK
        self._storages[key] = size
        self.live += size
        self.peak = max(self.peak, self.live)
        weakref.finalize(storage, self._free, key)

    def _free(self, key: int) -> None:
        self.live -= self._storages.pop(key, 0)


def caller() -> str:
    """Returns "file:function" of the innermost frame of the engine, else of transformers or of a test."""
    for place in ("/mrlm_engine/", "/transformers/", "/tests/"):
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            # A comprehension is a frame of its own in some versions of Python.
            is_function = not code.co_name.startswith("<")
            if is_function and place in code.co_filename and not code.co_filename.endswith("fake_gpu/watch.py"):
                return f"{code.co_filename.rsplit(place, 1)[1]}:{code.co_name}"
            frame = frame.f_back  # type: ignore[assignment]
    return "unknown"


def _tensors(values: Iterable[Any]) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _flops(func: Any, args: Any, kwargs: Any, found: Any) -> int:
    count: Callable[..., int] | None = flop_registry.get(func.overloadpacket)
    if count is None:
        return 0
    try:
        return int(count(*args, **kwargs, out_val=found))
    except (TypeError, ValueError):
        # The formula of another overload.
        return 0
