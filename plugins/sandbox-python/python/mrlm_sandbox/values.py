"""The value of a call or an expression, as the result of a run tells it."""

# The whole numbers that every reader of JSON reads exactly.
_LARGEST = 2**53 - 1
_DEEPEST = 100
# Bytes of a value as the prompt shows it.
_SHOWN = 1 << 20


class _Unsayable(Exception):
    pass


def told(value, longest):
    """`value` where JSON can say it, and `shown` as the prompt would, cut at `longest` bytes."""
    found = {}
    longest = min(longest, _SHOWN)
    try:
        found["value"] = _sayable(value, _DEEPEST)
    except (_Unsayable, RecursionError):
        pass
    try:
        text = repr(value)
        found["shown"] = (
            str.__str__(text)[:longest].encode("utf-8", "backslashreplace")[:longest].decode("utf-8", "ignore")
        )
    except Exception:  # noqa: BLE001 - the code of __repr__ may be the submission's.
        pass
    return found


def _sayable(value, depth):
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
            raise _Unsayable from None
    if depth > 0:
        if kind is list or kind is tuple:
            return [_sayable(item, depth - 1) for item in value]
        if kind is dict and set(map(type, value)) <= {str}:
            return {_sayable(key, 0): _sayable(item, depth - 1) for key, item in value.items()}
    raise _Unsayable
