"""Special methods of a submission's objects that the tests can use, by their operands."""

# Methods without an operand, or with one that does not reveal the result that a test expects.
ALONE = frozenset(
    "__len__ __bool__ __str__ __repr__ __format__ __bytes__ __hash__ __iter__ __reversed__ __getitem__ __setitem__"
    " __delitem__ __call__ __enter__ __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__"
    " __round__ __trunc__ __floor__ __ceil__".split()
)
_OPERATORS = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
# Methods whose operand must be another object of the submission. A value of the tests would reveal the expected result,
# and the submission would decide whether its object equals it.
PAIRED = frozenset(
    f"__{name}__"
    for name in (
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        *_OPERATORS,
        *(f"r{name}" for name in _OPERATORS),
        *(f"i{name}" for name in _OPERATORS),
    )
)
# Methods that may change an object. All others answer questions about it.
ACTIONS = frozenset(("__setitem__", "__delitem__", "__call__", "__enter__", *(f"__i{name}__" for name in _OPERATORS)))
# Methods that return an iterator of the object's items.
ITERATIONS = frozenset(("__iter__", "__reversed__"))
# Methods with code of their own in `proxies`.
NEXT, EXIT = "__next__", "__exit__"
UNHASHABLE = "unhashable"
_ALL = (*sorted(ALONE | PAIRED), NEXT, EXIT)


def of(kind: type) -> list[str]:
    """Returns the names of the special methods that a class defines or inherits, without those of `object`."""
    own: dict[str, object] = {}
    # getattr would also find the methods of the metaclass.
    for base in reversed(kind.__mro__[:-1]):
        own.update(vars(base))
    found = [name for name in _ALL if own.get(name) is not None]
    return [*found, UNHASHABLE] if kind.__hash__ is None else found
