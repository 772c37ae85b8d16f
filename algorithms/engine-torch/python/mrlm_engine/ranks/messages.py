"""Messages between ranks as pickles, because all ranks run one program that one user started.

A pickle runs code when it is read, and any user of the machine can connect to a rank's port. So ranks of one machine
sign their messages with a key that only they have, and unpickle none without a valid signature.
"""

from __future__ import annotations

import hmac
import os
import pickle
from typing import Any

from mrlm_engine.launcher.rank_environment import KEY

_DIGEST = "sha256"


class ForgedMessage(Exception):  # noqa: N818 - a fact about the message
    """Error for a message without a valid signature of a rank of this engine."""


def encode(message: object) -> bytes:
    """Encodes an object: functions by name, arrays, dataclasses."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _signature(data) + data


def decode(data: bytes | memoryview) -> Any:
    """Decodes a message of `encode`. Raises ForgedMessage for a wrong signature, before unpickling."""
    view = memoryview(data)
    length = len(_signature(b""))
    if not hmac.compare_digest(bytes(view[:length]), _signature(view[length:])):
        raise ForgedMessage("a rank received a message that no rank of this engine has signed")
    return pickle.loads(view[length:])


def _signature(data: bytes | memoryview) -> bytes:
    key = os.environ.get(KEY)
    return b"" if key is None else hmac.digest(bytes.fromhex(key), data, _DIGEST)
