"""Special methods of a submission's objects that the tests can use, by what they are given. Everything else that Python looks up by itself stays unanswered."""

# Nothing, or data that says nothing of the result that a test expects.
ALONE = frozenset(
    "__len__ __bool__ __str__ __repr__ __format__ __bytes__ __hash__ __iter__ __reversed__ __getitem__ __setitem__ __delitem__ __call__ __enter__"
    " __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__".split()
)
_OPERATORS = "add sub mul truediv floordiv mod divmod pow matmul and or xor lshift rshift".split()
# Another object of the submission. A value of the tests would tell the submission which result is expected, and let it decide whether it has given that one.
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
# These two need more than to be passed on.
NEXT, EXIT = "__next__", "__exit__"
UNHASHABLE = "unhashable"
_ALL = (*sorted(ALONE | PAIRED), NEXT, EXIT)


def of(kind):
    """The names that a class gives a meaning of its own."""
    own = {}
    # Not by getattr, which finds what the class itself can do as an object.
    for base in reversed(kind.__mro__[:-1]):
        own.update(vars(base))
    found = [name for name in _ALL if own.get(name) is not None]
    return [*found, UNHASHABLE] if kind.__hash__ is None else found
