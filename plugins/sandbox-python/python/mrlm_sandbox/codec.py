"""Plain data as text: the only content of messages between the checker and the runner.

The text is JSON. Scalars and lists are themselves; every JSON object is a tag with one key that names the type of its
value, so a text without a brace needs no further decoding. `decode` builds only instances of the built-in types below
and of a few immutable or container types of the standard library, always exact, never subclasses. So decoded values
compare, hash and print as those types do, even if a submission wrote the text.

    {"t": [...]} tuple          {"d": {...}} dict with str keys      {"D": [[key, value], ...]} any other dict
    {"s": [...]} set            {"f": [...]} frozenset               {"i": "-1f"} int too long for decimal
    {"b": "6162"} bytes         {"B": "6162"} bytearray              {"u": "..."} str with lone surrogates
    {"c": [re, im]} complex     {"r": [start, stop, step]} range     {"I": [...]} iterator, generator
    {"k": [...]} dict keys           {"v": [...]} dict values        {"x": [name, arguments]} a standard library type
    {"e": name} Ellipsis, NotImplemented, a built-in type            {"n": [name, fields, items]} named tuple
    {"a": n} the argument number n of the call that this is the result of
    {"o": [id, class, special methods]} an object that stays in the runner, by its number
    {"g": [id, class]} a generator   {"w": [id, class]} a coroutine  {"y": [id, class]} an asynchronous generator
    {"p": name} an entry point of the submission
"""

import array
import builtins
import collections
import datetime
import decimal
import fractions
import functools
import json
from collections.abc import Callable, Iterable
from typing import Any

# Returns the tag of an object that is not plain data, or raises NotPlain.
Refer = Callable[[Any], dict[str, Any]]
# Returns the object of a tag, by the kind and the payload of the tag.
Resolve = Callable[[str, Any], Any]
Tag = Callable[[Any], Any]  # Encodes a part of a value.

# Maximum length of a text in characters; its tree takes at most about twenty times as many bytes.
LONGEST = 8 << 20
# Maximum number of items of an iterator.
MOST_ITEMS = 1_000_000
# Maximum depth of containers, below the recursion limits of both interpreters.
DEEPEST = 150
_MOST_FIELDS = 64  # Maximum number of fields of a named tuple.
# Integers with more bits are written in base 16.
DECIMAL_BITS = 4096

_dumps = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode
_loads = json.JSONDecoder().decode
_ATOMS = frozenset({type(None), bool, float})
_SIMPLE = frozenset({type(None), bool, float, int, str})


class NotPlain(TypeError):
    """Error for a value that is not plain data; the message names the value."""


def encode(value: Any, refer: Refer | None = None) -> str:
    """Returns the text of `value`. Raises NotPlain."""
    if _is_bare(value, DEEPEST):
        try:
            text = _dumps(value)
            # A JSON reader would join two lone surrogates.
            if "\\ud" not in text and len(text) <= LONGEST:
                return text
        except ValueError:
            pass  # An integer too long for decimal.
    text = _dumps(_tagged(value, refer, DEEPEST))
    if len(text) > LONGEST:
        raise NotPlain(f"a value of {len(text)} characters as text is longer than {LONGEST}")
    return text


def decode(text: str, resolve: Resolve | None = None) -> Any:
    """Returns the value of a text; `resolve` returns the objects of references. Raises NotPlain."""
    if len(text) > LONGEST:
        raise NotPlain(f"a value of {len(text)} characters as text is longer than {LONGEST}")
    try:
        tree = _loads(text)
        return _untagged(tree, resolve) if "{" in text else tree
    except NotPlain:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        ArithmeticError,
        MemoryError,
    ) as error:
        raise NotPlain(f"not the text of a value: {type(error).__name__}") from None


def _is_bare(value: Any, depth: int) -> bool:
    """Whether the value needs no tag: scalars, and lists of them to any allowed depth."""
    kind = type(value)
    if kind is not list:
        return kind in _SIMPLE
    kinds = set(map(type, value))
    if kinds <= _SIMPLE:
        return True
    if not kinds <= _SIMPLE | {list} or depth == 0:
        return False
    return all(_is_bare(item, depth - 1) for item in value if type(item) is list)


def _tagged(value: Any, refer: Refer | None, depth: int) -> Any:
    kind: Any = type(value)
    if kind in _ATOMS:
        return value
    if kind is int:
        return value if value.bit_length() <= DECIMAL_BITS else {"i": hex(value)}
    if kind is str:
        return _text(value)
    if depth == 0:
        raise NotPlain(f"containers nested more than {DEEPEST} deep, or in a circle")
    writer = _WRITERS.get(kind)
    if writer is not None:
        return writer(value, lambda item: _tagged(item, refer, depth - 1))
    if kind is type or kind in _SINGLETONS:
        name = value.__name__ if kind is type else repr(value)
        if _NAMED.get(name) is value:
            return {"e": name}
    elif kind.__module__ != "builtins":
        if _is_named_tuple(kind):
            return {
                "n": [_name(kind), [*kind._fields], [_tagged(item, refer, depth - 1) for item in tuple.__iter__(value)]]
            }
        base = _plain_base(kind)
        if base is not None:
            return _tagged(_stripped(base, value), refer, depth)
    if refer is not None:
        return refer(value)
    raise NotPlain(f"an instance of {_name(kind)} is not plain data")


def _text(value: str) -> str | dict[str, str]:
    if value.isascii():
        return value
    try:
        value.encode()
    except UnicodeEncodeError:
        return {"u": value.encode("utf-32-le", "surrogatepass").hex()}
    return value


def _is_named_tuple(kind: Any) -> bool:
    """Whether a class is made by `collections.namedtuple` or `typing.NamedTuple`, without a comparison of its own."""
    fields = getattr(kind, "_fields", None) if issubclass(kind, tuple) else None
    return (
        type(fields) is tuple
        and len(fields) <= _MOST_FIELDS
        and kind.__eq__ is tuple.__eq__
        and kind.__hash__ is tuple.__hash__
    )


def _plain_base(kind: Any) -> Any:
    """Returns the plain type that `kind` extends, or None. Raises NotPlain if `kind` has its own comparison."""
    base: Any
    for base in (bool, int, float, str, bytes, tuple, list, dict, set, frozenset):
        if issubclass(kind, base):
            if kind.__eq__ is not base.__eq__ or kind.__hash__ is not base.__hash__:
                raise NotPlain(f"{_name(kind)} is a subclass of {base.__name__} with a comparison of its own")
            return base
    return None


def _stripped(base: Any, value: Any) -> Any:
    if base in (str, bytes):
        return base.__getitem__(value, slice(None))
    if base is int:
        return int.__index__(value)
    if base is float:
        return float.__float__(value)
    if base is dict:
        return dict(dict.items(value))
    return base(base.__iter__(value))


def _name(kind: type) -> str:
    name: object = kind.__name__
    return name[:100] if type(name) is str else "a class"


def _pairs(value: dict[Any, Any], tag: Tag) -> dict[str, Any]:
    items = dict.items(value)
    if set(map(type, dict.keys(value))) == {str} and all(key.isascii() for key in dict.keys(value)):
        return {"d": {key: tag(item) for key, item in items}}
    return {"D": [[tag(key), tag(item)] for key, item in items]}


def _drained(value: Iterable[Any], tag: Tag) -> dict[str, Any]:
    found: list[Any] = []
    for item in value:
        if len(found) == MOST_ITEMS:
            raise NotPlain(f"an iterator with more than {MOST_ITEMS} items")
        found.append(tag(item))
    return {"I": found}


def _factory(value: Any) -> Any:
    """Returns the name of the factory of a defaultdict; None if it is code, and not a built-in type."""
    factory = value.default_factory
    if type(factory) is not type:
        return None
    name = factory.__name__
    return name if _FACTORIES.get(name) is factory else None


def _library(name: str, *arguments: Any) -> dict[str, Any]:
    return {"x": [name, list(arguments)]}


_WRITERS: dict[type, Callable[[Any, Tag], Any]] = {
    list: lambda value, tag: [tag(item) for item in value],
    tuple: lambda value, tag: {"t": [tag(item) for item in value]},
    dict: _pairs,
    set: lambda value, tag: {"s": [tag(item) for item in value]},
    frozenset: lambda value, tag: {"f": [tag(item) for item in value]},
    bytes: lambda value, tag: {"b": value.hex()},
    bytearray: lambda value, tag: {"B": value.hex()},
    complex: lambda value, tag: {"c": [value.real, value.imag]},
    range: lambda value, tag: {"r": [tag(value.start), tag(value.stop), tag(value.step)]},
    type({}.keys()): lambda value, tag: {"k": [tag(item) for item in value]},
    type({}.values()): lambda value, tag: {"v": [tag(item) for item in value]},
    type({}.items()): lambda value, tag: {"D": [[tag(key), tag(item)] for key, item in value], "n": 1},
    decimal.Decimal: lambda value, tag: _library("Decimal", str(value)),
    fractions.Fraction: lambda value, tag: _library("Fraction", tag(value.numerator), tag(value.denominator)),
    collections.Counter: lambda value, tag: _library("Counter", _pairs(value, tag)),
    collections.OrderedDict: lambda value, tag: _library("OrderedDict", _pairs(value, tag)),
    collections.defaultdict: lambda value, tag: _library("defaultdict", _factory(value), _pairs(value, tag)),
    collections.deque: lambda value, tag: _library("deque", [tag(item) for item in value], value.maxlen),
    array.array: lambda value, tag: _library("array", value.typecode, [tag(item) for item in value]),
    datetime.date: lambda value, tag: _library("date", value.isoformat()),
    datetime.time: lambda value, tag: _library("time", value.isoformat()),
    datetime.datetime: lambda value, tag: _library("datetime", value.isoformat()),
    datetime.timedelta: lambda value, tag: _library("timedelta", value.days, value.seconds, value.microseconds),
}
# Finite iterators that run no code of the submission. All others stay in the runner, and the tests take their items one
# by one.
_iterator: Any
for _iterator in (
    iter([]),
    iter(()),
    iter(""),
    iter("\u0100"),
    iter(b""),
    iter(bytearray()),
    iter(set()),
    iter({}),
    iter({}.values()),
    iter({}.items()),
    iter(range(0)),
    iter(range(1 << 80)),
    iter(collections.deque()),
    reversed([]),
    reversed({}),
    reversed({}.values()),
    reversed({}.items()),
):
    _WRITERS[type(_iterator)] = _drained
_SINGLETONS = frozenset({type(...), type(NotImplemented)})
_NAMED: dict[str, Any] = {name: value for name, value in vars(builtins).items() if type(value) is type} | {
    "Ellipsis": ...,
    "NotImplemented": NotImplemented,
    "NoneType": type(None),
}


def _untagged(tree: Any, resolve: Resolve | None) -> Any:
    if type(tree) is list:
        return [_untagged(item, resolve) if type(item) in (list, dict) else item for item in tree]
    if type(tree) is not dict:
        return tree
    if len(tree) == 2 and tree.get("n") == 1:
        return dict(_decoded_pairs(tree["D"], resolve)).items()
    if len(tree) != 1:
        raise NotPlain("not the text of a value: an unknown tag")
    ((tag, payload),) = tree.items()
    if tag in _REFERENCES:
        if resolve is None:
            raise NotPlain("not the text of a value: a reference out of place")
        return resolve(tag, payload)
    reader = _READERS.get(tag)
    if reader is None:
        raise NotPlain("not the text of a value: an unknown tag")
    return reader(payload, resolve)


def _decoded_pairs(payload: Any, resolve: Resolve | None) -> list[tuple[Any, Any]]:
    return [(_untagged(key, resolve), _untagged(value, resolve)) for key, value in payload]


def _of(kind: Callable[[Any], Any]) -> Callable[[Any, Resolve | None], Any]:
    """Makes a reader of a container."""
    return lambda payload, resolve: kind(_untagged(payload, resolve) if type(payload) is list else None)


def _of_str(convert: Callable[[str], Any]) -> Callable[[Any, Resolve | None], Any]:
    """Makes a reader of a tag whose content is a string."""

    def read(payload: Any, resolve: Resolve | None) -> Any:
        if type(payload) is not str:
            raise NotPlain("not the text of a value: a tag's content")
        return convert(payload)

    return read


def _read_range(payload: Any, resolve: Resolve | None) -> range:
    start, stop, step = _untagged(payload, resolve)
    return range(start, stop, step)


def _read_complex(payload: Any, resolve: Resolve | None) -> complex:
    real, imaginary = payload
    return complex(float(real), float(imaginary))


def _read_library(payload: Any, resolve: Resolve | None) -> Any:
    name, arguments = payload
    return _LIBRARY[name](*_untagged(arguments, resolve))


def _read_decimal(text: Any) -> decimal.Decimal:
    # Adding to a number with an exponent of a billion would fill the memory.
    value = decimal.Decimal(text)
    if value.is_finite() and abs(value.adjusted()) > 100_000:
        raise NotPlain("a Decimal with a huge exponent")
    return value


def _read_named(payload: Any, resolve: Resolve | None) -> Any:
    name, fields, items = payload
    if (
        type(name) is not str
        or len(fields) > _MOST_FIELDS
        or len(fields) != len(items)
        or not all(type(field) is str for field in fields)
    ):
        raise NotPlain("not the text of a value: a named tuple")
    return _named_tuple(name, tuple(fields))._make(_untagged(items, resolve))


@functools.lru_cache(maxsize=256)
def _named_tuple(name: str, fields: tuple[str, ...]) -> Any:
    return collections.namedtuple(name, fields)


def _read_defaultdict(factory: Any, entries: Any) -> Any:
    if factory is None:
        return entries
    return collections.defaultdict(_FACTORIES[factory], entries)


def _read_array(typecode: Any, items: Any) -> Any:
    if type(typecode) is not str or len(typecode) != 1:
        raise NotPlain("not the text of a value: an array")
    return array.array(typecode, items)


def _read_fraction(numerator: Any, denominator: Any) -> fractions.Fraction:
    if type(numerator) is not int or type(denominator) is not int:
        raise NotPlain("not the text of a value: a Fraction")
    return fractions.Fraction(numerator, denominator)


_REFERENCES = frozenset("aogwyp")
_FACTORIES: dict[str, Any] = {kind.__name__: kind for kind in (int, float, str, list, dict, set, tuple, bool)}
_STANDARD = (collections.Counter, collections.OrderedDict, collections.deque, datetime.timedelta)
_LIBRARY: dict[str, Callable[..., Any]] = {
    "defaultdict": _read_defaultdict,
    "array": _read_array,
    "Decimal": _read_decimal,
    "Fraction": _read_fraction,
    **{kind.__name__: kind for kind in _STANDARD},
    **{kind.__name__: kind.fromisoformat for kind in (datetime.date, datetime.time, datetime.datetime)},
}

_READERS: dict[str, Callable[[Any, Resolve | None], Any]] = {
    "t": _of(tuple),
    "s": _of(set),
    "f": _of(frozenset),
    "I": _of(iter),
    "k": lambda payload, resolve: dict.fromkeys(_untagged(payload, resolve)).keys(),
    "v": lambda payload, resolve: dict(enumerate(_untagged(payload, resolve))).values(),
    "d": lambda payload, resolve: {key: _untagged(value, resolve) for key, value in dict.items(payload)},
    "D": lambda payload, resolve: dict(_decoded_pairs(payload, resolve)),
    "i": _of_str(lambda text: int(text, 16)),
    "b": _of_str(bytes.fromhex),
    "B": _of_str(bytearray.fromhex),
    "u": _of_str(lambda text: bytes.fromhex(text).decode("utf-32-le", "surrogatepass")),
    "c": _read_complex,
    "e": _of_str(_NAMED.__getitem__),
    "n": _read_named,
    "r": _read_range,
    "x": _read_library,
}
