"""Objects of the submission that the tests hold: they stay in the runner; messages carry their numbers."""

import types
from collections.abc import Callable, Sequence
from typing import Any

from . import codec, faults, specials

_MOST = 100_000
_MUTABLE = (list, dict, set, bytearray)
_TAGS = {types.GeneratorType: "g", types.CoroutineType: "w", types.AsyncGeneratorType: "y"}


class Objects:
    """Numbered objects of one submission."""

    def __init__(self, globals_of: Callable[[], dict[str, Any]]) -> None:
        """`globals_of()` returns the global names of the submission."""
        self._globals_of = globals_of
        self._held: list[Any] = []
        # Numbers by `id`, and special methods of classes by `id`: a class of the submission may define any comparison.
        self._numbers: dict[int, int] = {}
        self._specials: dict[int, list[str]] = {}

    def __getitem__(self, number: int) -> Any:
        return self._held[number]

    def refer(self, value: Any) -> dict[str, Any]:
        """Returns the tag of an object."""
        number = self._numbers.get(id(value))
        if number is None:
            if len(self._held) == _MOST:
                raise codec.NotPlain(f"the tests hold more than {_MOST} objects")
            number = self._numbers[id(value)] = len(self._held)
            self._held.append(value)
        kind = type(value)
        name = faults.name_of(kind)
        tag = _TAGS.get(kind)
        if tag is not None:
            return {tag: [number, name]}
        if id(kind) not in self._specials:
            self._specials[id(kind)] = specials.of(kind)
        return {"o": [number, name, self._specials[id(kind)]]}

    def resolve(self, kind: str, payload: Any) -> Any:
        """Returns the object of an argument's tag: by its number, or an entry point by its name."""
        return self._globals_of()[payload] if kind == "p" else self._held[payload[0]]

    @staticmethod
    def position(result: object, args: Sequence[object]) -> str | None:
        """Returns the text of a result that is a mutable argument of the call: the tests receive the same object."""
        if type(result) in _MUTABLE:
            for number, item in enumerate(args):
                if item is result:
                    return f'{{"a":{number}}}'
        return None
