"""Exceptions of a submission as data: classes by name, arguments, attributes, cause and context."""

import builtins
import contextlib
import sys
from typing import Any

from . import codec, faults

OWN = "own:"
# Maximum length of a chain of causes and contexts, and maximum number of exceptions in a group.
LONGEST_CHAIN = 8
MOST_IN_GROUP = 100
_MOST_ATTRIBUTES = 100
# Fields of built-in classes that `args` does not contain.
FIELDS = ("name", "path", "filename", "filename2")
_BUILT_IN = {
    id(kind): name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}


def to_data(
    error: BaseException, refer: codec.Refer | None, number: int | None = None, chain: int = LONGEST_CHAIN
) -> dict[str, Any]:
    """Describes an exception as JSON data. `number` is its number among the objects that the tests hold."""
    found: dict[str, Any] = {
        "kinds": [_name(kind) for kind in type(error).__mro__],
        "arguments": _arguments(error),
        "attributes": _attributes(error, refer),
        "text": faults.message_of(error),
    }
    if number is not None:
        found["number"] = number
    if chain > 0:
        cause, context = getattr(error, "__cause__", None), getattr(error, "__context__", None)
        if isinstance(cause, BaseException):
            found["__cause__"] = to_data(cause, refer, None, chain - 1)
        if isinstance(context, BaseException) and context is not cause:
            found["__context__"] = to_data(context, refer, None, chain // 2)
        members = getattr(error, "exceptions", None)
        if type(members) is tuple and all(isinstance(member, BaseException) for member in members[:MOST_IN_GROUP]):
            found["members"] = [to_data(member, refer, None, chain // 2) for member in members[:MOST_IN_GROUP]]
            found["arguments"] = codec.encode(
                [faults.message_of(error) if type(error.message) is not str else error.message]  # type: ignore[attr-defined]
            )
    return found


def _name(kind: type) -> str:
    if id(kind) in _BUILT_IN:
        return _BUILT_IN[id(kind)]
    name, module = faults.name_of(kind), kind.__module__
    return (
        f"{module}.{name}"
        if type(module) is str and module.partition(".")[0] in sys.stdlib_module_names
        else OWN + name
    )


def _arguments(error: BaseException) -> str:
    try:
        return codec.encode(list(error.args))
    except Exception:  # The value is not plain data, or the submission's code raised an error.
        return codec.encode([faults.message_of(error)])


def _attributes(error: BaseException, refer: codec.Refer | None) -> dict[str, str]:
    """Returns the attributes that were set on an exception, as texts of `codec` by name."""
    found: dict[str, str] = {}
    try:
        own = [*vars(error).items()][:_MOST_ATTRIBUTES]
        fields = (
            [(name, value) for name in FIELDS if (value := getattr(error, name, None)) is not None]
            if type(error).__module__ == "builtins"
            else []
        )
    except Exception:
        return found
    for name, value in own + fields:
        # An attribute that cannot be encoded is left out.
        with contextlib.suppress(Exception):
            found[name] = codec.encode(value, refer)
    return found
