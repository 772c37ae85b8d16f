"""Objects of the submission that the tests hold: they stay here, and travel as numbers."""

from . import codec, faults

_MOST = 100_000
_MUTABLE = (list, dict, set, bytearray)


class Objects:
    def __init__(self):
        self._held = []

    def __getitem__(self, number):
        return self._held[number]

    def refer(self, value):
        """The tag of an object."""
        for number, held in enumerate(self._held[-100:], max(0, len(self._held) - 100)):
            if held is value:
                break
        else:
            if len(self._held) == _MOST:
                raise codec.NotPlain(f"the tests hold more than {_MOST} objects")
            number = len(self._held)
            self._held.append(value)
        return {"o": [number, faults.name_of(type(value))]}

    def resolve(self, kind, payload):
        """The object of a tag."""
        return self._held[payload[0]]

    @staticmethod
    def position(result, args):
        """The text of a result that is one of the call's own mutable arguments: in the tests too it is that very object."""
        if type(result) in _MUTABLE:
            for number, item in enumerate(args):
                if item is result:
                    return f'{{"a":{number}}}'
        return None
