"""How a submission ended, by the account of its own process: text that it may have written itself."""

import json

from . import codec, faults

BROKEN = {"verdict": "killed"}
_VERDICTS = ("ok", "error", "memory-limit")
_LARGEST_INTEGER = 1 << 53
# Bytes of what the parent is sent: a value of the longest text, with what stands around it.
_LONGEST = 4 * codec.LONGEST


def read(text):
    """The outcome, in the form that the parent reads; BROKEN where the text is none. Never raises."""
    # To read a longer one would outlast the deadline; an honest runner sends none.
    if len(text) > codec.LONGEST:
        return dict(BROKEN)
    try:
        outcome = _checked(_loads(text))
        # A value that cannot be written again would break the answer to the parent.
        return outcome if len(json.dumps(outcome, allow_nan=False)) <= _LONGEST else dict(BROKEN)
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return dict(BROKEN)


def _checked(told):
    if type(told) is not dict or told.get("verdict") not in _VERDICTS:
        raise ValueError("no verdict")
    outcome = {"verdict": told["verdict"]}
    if "value" in told:
        outcome["value"] = told["value"]
    if "shown" in told:
        outcome["shown"] = _of(str, told["shown"])
    if "exitCode" in told:
        outcome["exitCode"] = _of(int, told["exitCode"])
    if "error" in told:
        error = _of(dict, told["error"])
        outcome["error"] = {name: _of(str, error[name])[:longest] for name, longest in faults.LONGEST.items()}
        if "line" in error:
            outcome["error"]["line"] = _of(int, error["line"])
    return outcome


def _of(kind, value):
    if type(value) is not kind:
        raise TypeError(f"not of the type {kind.__name__}")
    return value


def _integer(text):
    number = int(text)
    if abs(number) > _LARGEST_INTEGER:
        raise ValueError("an integer that JSON's readers do not read exactly")
    return number


def _constant(name):
    raise ValueError(f"{name} is no JSON")


def _object(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key that stands twice")
    return found


_loads = json.JSONDecoder(parse_int=_integer, parse_constant=_constant, object_pairs_hook=_object).decode
