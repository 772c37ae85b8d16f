"""Outcomes that a runner reports. The submission may have written their text itself."""

import json
from typing import Any, TypeVar

from . import codec, faults

Value = TypeVar("Value")

BROKEN = {"verdict": "killed"}
_VERDICTS = ("ok", "error", "memory-limit")
_LARGEST_INTEGER = 1 << 53
# Maximum bytes of an outcome that the parent receives: a value of the longest text, and the text around it.
_LONGEST = 4 * codec.LONGEST


def read(text: str) -> dict[str, Any]:
    """Returns the outcome in the form that the parent reads; BROKEN if the text is invalid. Never raises."""
    # Reading a longer text could exceed the deadline; an unmodified runner sends none.
    if len(text) > codec.LONGEST:
        return dict(BROKEN)
    try:
        outcome = _checked(_loads(text))
        # A value that cannot be written as JSON would break the answer to the parent.
        return outcome if len(json.dumps(outcome, allow_nan=False)) <= _LONGEST else dict(BROKEN)
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return dict(BROKEN)


def _checked(reported: Any) -> dict[str, Any]:
    if type(reported) is not dict or reported.get("verdict") not in _VERDICTS:
        raise ValueError("no verdict")
    outcome: dict[str, Any] = {"verdict": reported["verdict"]}
    if "value" in reported:
        outcome["value"] = reported["value"]
    if "shown" in reported:
        outcome["shown"] = _of(str, reported["shown"])
    if "files" in reported:
        outcome["files"] = {_of(str, path): _of(str, data) for path, data in _of(dict, reported["files"]).items()}
    if "exitCode" in reported:
        outcome["exitCode"] = _of(int, reported["exitCode"])
    if "error" in reported:
        error = _of(dict, reported["error"])
        outcome["error"] = {name: _of(str, error[name])[:longest] for name, longest in faults.LONGEST.items()}
        if "line" in error:
            outcome["error"]["line"] = _of(int, error["line"])
    return outcome


def _of(kind: type[Value], value: Any) -> Value:
    if type(value) is not kind:
        raise TypeError(f"not of the type {kind.__name__}")
    return value


def _integer(text: str) -> int:
    number = int(text)
    if abs(number) > _LARGEST_INTEGER:
        raise ValueError("an integer that JSON's readers do not read exactly")
    return number


def _constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a repeated key")
    return found


_loads = json.JSONDecoder(parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object).decode
