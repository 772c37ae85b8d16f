"""Description of the value of a call or an expression for the result of a run."""

import contextlib
from typing import Any

# Largest integer that every reader of JSON reads exactly.
_LARGEST = 2**53 - 1
_DEEPEST = 100
# Maximum bytes of a value as the prompt shows it.
_SHOWN = 1 << 20


class _NotJson(Exception):
    """JSON has no exact form of the value."""


def described(value: Any, longest: int) -> dict[str, Any]:
    """Returns `value` if JSON has an exact form of it, and `shown` as the prompt prints it, cut at `longest` bytes."""
    found = {}
    longest = min(longest, _SHOWN)
    with contextlib.suppress(_NotJson, RecursionError):
        found["value"] = _as_json(value, _DEEPEST)
    # The submission may have written the code of __repr__.
    with contextlib.suppress(Exception):
        text = repr(value)
        found["shown"] = (
            str.__str__(text)[:longest].encode("utf-8", "backslashreplace")[:longest].decode("utf-8", "ignore")
        )
    return found


def _as_json(value: Any, depth: int) -> Any:
    kind = type(value)
    if value is None or kind is bool:
        return value
    if kind is int and -_LARGEST <= value <= _LARGEST:
        return value
    if kind is float and value - value == 0:
        return value
    if kind is str:
        try:
            value.encode()
            return value
        except UnicodeEncodeError:
            raise _NotJson from None
    if depth > 0:
        if kind is list or kind is tuple:
            return [_as_json(item, depth - 1) for item in value]
        if kind is dict and set(map(type, value)) <= {str}:
            return {_as_json(key, 0): _as_json(item, depth - 1) for key, item in value.items()}
    raise _NotJson
