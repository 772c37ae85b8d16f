"""Spaces of texts, and plain forms of observations and actions, for Gymnasium and PettingZoo. Needs gymnasium."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsInt

import numpy as np
from gymnasium import spaces

from mrlm_client.client import Session
from mrlm_client.errors import MrlmError
from mrlm_client.values import Observation


class FreeText(spaces.Text):
    """Any text. Only samples are limited: to letters and digits, at most 16 of them."""

    def __init__(self) -> None:
        super().__init__(16)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str)


class Utf8(spaces.Box):
    """Texts as UTF-8 in uint8 [max_bytes], padded with zeros."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(0, 255, (max_bytes,), np.uint8)

    def encode(self, text: str) -> Any:
        encoded = text.encode()
        (max_bytes,) = self.shape
        if len(encoded) > max_bytes:
            message = f"An observation has {len(encoded)} bytes, which is more than {max_bytes}."
            raise MrlmError("OPTIONS_INVALID", message, "Raise `max_bytes`.")
        return np.frombuffer(encoded.ljust(max_bytes, b"\0"), np.uint8).copy()


def text_of(observation: Any) -> str:
    """Returns the text of an element of `Utf8`."""
    return bytes(observation).rstrip(b"\0").decode()


def actions_space(actions: Sequence[str] | None) -> spaces.Space[Any]:
    return FreeText() if actions is None else spaces.Discrete(len(actions))


def reset_arguments(
    session: Session, random: np.random.Generator, seed: int | None, options: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Returns the arguments of `Session.reset`. Draws a seed where none is given and the environment takes one."""
    if seed is None and session.description.takes_seed:
        seed = int(random.integers(2**31))
    return {"seed": seed, "task": (options or {}).get("task")}


def message_of(action: Any, actions: Sequence[str] | None) -> Any:
    """Returns the message of an action, which may be the index of a text."""
    return actions[int(action)] if actions is not None and isinstance(action, SupportsInt) else action


def info_of(observation: Observation) -> dict[str, Any]:
    """Returns an observation as plain data."""
    info: dict[str, Any] = {
        "messages": [{"role": message.role, "text": message.text} for message in observation.messages],
        "is_fresh": observation.is_fresh,
    }
    if observation.tools is not None:
        info["tools"] = [dict(tool.__dict__) for tool in observation.tools]
    return info
