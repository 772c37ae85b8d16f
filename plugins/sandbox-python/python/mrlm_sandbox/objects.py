"""Objects of the submission that the tests hold: they stay here, and travel as numbers."""

import types

from . import codec, faults, specials

_MOST = 100_000
_MUTABLE = (list, dict, set, bytearray)
_TAGS = {types.GeneratorType: "g", types.CoroutineType: "w", types.AsyncGeneratorType: "y"}


class Objects:
    def __init__(self, globals_of):
        """`globals_of()` gives the names of the submission."""
        self._globals_of = globals_of
        self._held = []
        # Of what is held, by `id`.
        self._numbers = {}
        # Of classes, by `id`: one of the submission may compare as it likes.
        self._specials = {}

    def __getitem__(self, number):
        return self._held[number]

    def refer(self, value):
        """The tag of an object."""
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

    def resolve(self, kind, payload):
        """The object of an argument's tag: by its number, or an entry point by its name."""
        return self._globals_of()[payload] if kind == "p" else self._held[payload[0]]

    @staticmethod
    def position(result, args):
        """The text of a result that is one of the call's own mutable arguments: in the tests too it is that very object."""
        if type(result) in _MUTABLE:
            for number, item in enumerate(args):
                if item is result:
                    return f'{{"a":{number}}}'
        return None
