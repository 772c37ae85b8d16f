"""What ranks tell each other, as bytes: pickles, since all ranks are one program that one user started."""

from __future__ import annotations

import io
import pickle
from typing import Any

from google.protobuf.message import Message

from mrlm_engine.gen.mrlm.engine.v1 import engine_pb2 as pb


class _Pickler(pickle.Pickler):
    """Classes of generated messages name a module that cannot be imported, so they travel in their own form."""

    def reducer_override(self, value: Any) -> Any:
        """How a message of engine.proto is made again."""
        if isinstance(value, Message):
            return _message, (type(value).__name__, value.SerializeToString())
        return NotImplemented


def encode(message: object) -> bytes:
    """Any object: functions by name, messages of engine.proto, arrays, dataclasses."""
    file = io.BytesIO()
    _Pickler(file, protocol=pickle.HIGHEST_PROTOCOL).dump(message)
    return file.getvalue()


def decode(data: bytes | memoryview) -> Any:
    """What `encode` was given."""
    return pickle.loads(data)


def _message(name: str, data: bytes) -> Message:
    found: Message = getattr(pb, name).FromString(data)
    return found
