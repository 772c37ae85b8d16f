"""Observations and rewards of Python environments as text and JSON, and actions from the text of a policy.

Spaces are recognised by the names of their classes: environments without gymnasium may have their own.
"""

import json
import math
import re
from collections.abc import Callable
from typing import Any

# Characters of an observation. A larger one is an image, or another array that no model can read as text.
MAX_TEXT = 1 << 18
# Levels of nested values in an observation and in an action.
MAX_DEPTH = 16

_BEGIN, _END = "<action>", "</action>"
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}")
_COLOURED = re.compile(r"\x1b\[([0-9;]*)m(.*?)\x1b\[0?m", re.DOTALL)
_CODE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_COLOURS = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")


class UnreadableError(Exception):
    """Text of a policy that is no action of the space."""


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON: arrays as lists, numbers with six significant digits."""
    if depth > MAX_DEPTH:
        raise ValueError(f"an observation has more than {MAX_DEPTH} levels")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each, depth + 1) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist(), depth + 1)
    if isinstance(value, (set, frozenset)):
        return plain(sorted(value), depth + 1)
    return str(value)


def kind_of(space: Any) -> str:
    """Return the name of the class of a space that has a form, also of a subclass or of another library."""
    names = [each.__name__ for each in type(space).__mro__]
    return next((name for name in names if name in READERS), "Text")


def describe_space(space: Any) -> str:
    """Describe the actions of a space in words."""
    kind = kind_of(space)
    if kind == "Discrete":
        first = int(getattr(space, "start", 0))
        return f"an integer from {first} to {first + int(space.n) - 1}"
    if kind == "MultiDiscrete":
        return f"a JSON list of integers of the shape {list(space.shape)}, each from 0 to below {plain(space.nvec)}"
    if kind == "MultiBinary":
        return f"a JSON list of 0 and 1 of the shape {list(space.shape)}"
    if kind == "Box":
        low, high = (plain(bound.flat[0]) for bound in (space.low, space.high))
        same = (space.low == space.low.flat[0]).all() and (space.high == space.high.flat[0]).all()
        bounds = f"from {low} to {high}" if same else f"from {plain(space.low)} to {plain(space.high)}"
        number = "integers" if space.dtype.kind in "iu" else "numbers"
        return f"a JSON list of {number} of the shape {list(space.shape)}, {bounds}"
    if kind == "Tuple":
        return "a JSON list of " + "; ".join(describe_space(each) for each in space.spaces)
    if kind == "Dict":
        return "a JSON object with " + "; ".join(f"`{key}`: {describe_space(each)}" for key, each in space.items())
    return "a text"


def read_discrete(space: Any, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UnreadableError("it is no integer")
    first = int(getattr(space, "start", 0))
    if not first <= value < first + int(space.n):
        raise UnreadableError(f"it is not from {first} to {first + int(space.n) - 1}")
    return value


def read_array(space: Any, value: Any) -> Any:
    import numpy

    if not numbers_only(value):
        raise UnreadableError("it is no list of numbers")
    try:
        array = numpy.array(value)
    except ValueError:
        raise UnreadableError("its lists have different lengths") from None
    if array.shape != tuple(space.shape):
        raise UnreadableError(f"its shape is {list(array.shape)}, not {list(space.shape)}")
    if space.dtype.kind in "iub" and array.dtype.kind not in "iu":
        raise UnreadableError("it has a number that is no integer")
    # A number outside of the type would wrap around in it.
    if space.dtype.kind in "iub" and (array != array.astype(space.dtype)).any():
        raise UnreadableError("it is outside of the bounds")
    array = array.astype(space.dtype)
    if not space.contains(array):
        raise UnreadableError("it is outside of the bounds")
    return array


def numbers_only(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < MAX_DEPTH and all(numbers_only(each, depth + 1) for each in value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and abs(value) < 2**53


def read_tuple(space: Any, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list) or len(value) != len(space.spaces):
        raise UnreadableError(f"it is no list of {len(space.spaces)} values")
    return tuple(read_value(each, part) for each, part in zip(space.spaces, value, strict=True))


def read_dict(space: Any, value: Any) -> dict[str, Any]:
    names = list(space.keys())
    if not isinstance(value, dict) or sorted(value) != sorted(names):
        raise UnreadableError(f"it is no object with {', '.join(names)}")
    return {name: read_value(space[name], value[name]) for name in names}


def read_text(space: Any, value: Any) -> str:
    if not isinstance(value, str):
        raise UnreadableError("it is no text")
    if hasattr(space, "contains") and not space.contains(value):
        raise UnreadableError("it is no text of the space")
    return value


READERS: dict[str, Callable[[Any, Any], Any]] = {
    "Discrete": read_discrete,
    "Box": read_array,
    "MultiDiscrete": read_array,
    "MultiBinary": read_array,
    "Tuple": read_tuple,
    "Dict": read_dict,
    "Text": read_text,
}


def read_value(space: Any, value: Any) -> Any:
    return READERS[kind_of(space)](space, value)


def read_action(space: Any, text: str) -> Any:
    """Read the action in the text of a policy: the content of its last <action>, else the whole text.

    Raises UnreadableError for a text that is no action. An environment without a space takes the text itself.
    """
    if space is None:
        return text
    end = text.rfind(_END)
    begin = text.rfind(_BEGIN, 0, max(end, 0))
    stated = (text if begin < 0 else text[begin + len(_BEGIN) : end]).strip()
    kind = kind_of(space)
    if kind == "Text":
        return read_text(space, stated)
    if kind == "Discrete":
        if not _INTEGER.fullmatch(stated):
            raise UnreadableError("it is no integer")
        return read_discrete(space, int(stated))
    try:
        value = json.loads(stated)
    except (ValueError, RecursionError):
        raise UnreadableError("it is no JSON") from None
    return read_value(space, value)


def uncoloured(shown: Any) -> str:
    """Write the colours of a rendered text as words, `[S:red]`: they show places."""

    def name(found: re.Match[str]) -> str:
        codes = [int(code) for code in found[1].split(";") if code]
        colours = [_COLOURS[code % 10] for code in codes if code // 10 in (3, 4, 9, 10) and code % 10 < len(_COLOURS)]
        return f"[{found[2]}:{colours[-1]}]" if colours else found[2]

    return _CODE.sub("", _COLOURED.sub(name, str(shown))).strip("\n")


def render(environment: Any, observation: Any) -> str:
    """Return an observation as text: the rendered text of an environment in the mode `ansi`, a text, else JSON."""
    if getattr(environment, "render_mode", None) == "ansi":
        text = uncoloured(environment.render())
        mask = observation.get("action_mask") if isinstance(observation, dict) else None
        if mask is not None:
            text += f"\nLegal actions: {', '.join(str(i) for i, legal in enumerate(plain(mask)) if legal)}."
    elif isinstance(observation, str):
        text = observation
    else:
        text = json.dumps(plain(observation), separators=(",", ":"))
    if len(text) > MAX_TEXT:
        raise ValueError(
            f"an observation has {len(text)} characters, more than {MAX_TEXT}: no model can read it as text"
        )
    return text


def number(value: Any) -> float | str:
    """Return a reward as JSON: what is no finite number as a text, which the other side refuses."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, (bool, int, float)) and math.isfinite(value):
        return value
    return str(value)
