"""What stands for the submission's functions, classes and objects where the tests run."""

from . import codec, iterators, specials

_REFLECTED = "a value of the tests is not handed to the {} of an object of the submission, which could then answer with what is expected: call a method"


class EntryPoints(type):
    """
    The class of what stands for a function or class that tests use by its name. Each is a class, so that `except` and `isinstance` take it; calling it calls
    what it stands for. To make a class takes longer than a suite of tests, so one serves all submissions, one after the other.
    """

    def __new__(cls, name):
        return super().__new__(cls, name, (BaseException,), {"__remote__": None, "__module__": "submission"})

    def __init__(cls, name):
        super().__init__(name, (BaseException,), {})

    def of(cls, remote):
        """From now on it is that of another submission."""
        type.__setattr__(cls, "__remote__", remote)
        return cls

    def __call__(cls, *args, **kwargs):
        return cls.__remote__.call(cls.__name__, args, kwargs)

    def __getattribute__(cls, name):
        if name.startswith("__") and name.endswith("__"):
            return super().__getattribute__(name)
        return cls.__remote__.attribute(cls.__name__, name)

    def __setattr__(cls, name, value):
        cls.__remote__.set_attribute(cls.__name__, _public(name), value)

    def __instancecheck__(cls, value):
        if isinstance(value, BaseException):
            return type.__instancecheck__(cls, value)
        if issubclass(type(value), RemoteObject):
            return cls.__remote__.is_instance(value, cls.__name__)
        return type(value).__name__ == cls.__name__ and issubclass(type(value), tuple) and hasattr(value, "_fields")

    def __iter__(cls):
        return iter(cls.__remote__.call(f"{cls.__name__}.__iter__", (), {}))

    def __getitem__(cls, key):
        return cls.__remote__.call(f"{cls.__name__}.__getitem__", (key,), {})

    def __repr__(cls):
        return f"<{cls.__name__} of the submission>"


class RemoteObject:
    """
    An object of the submission. Its class here has the special methods that its class there has. What a method returns is data, or another such object.
    Comparisons and operators work among the submission's own objects: how one of them compares with a value of the tests is not the submission's to say.
    """

    __slots__ = ("__number", "__remote", "__stream")

    def __init__(self, remote, number):
        for name, value in (("remote", remote), ("number", number), ("stream", None)):
            object.__setattr__(self, f"_RemoteObject__{name}", value)

    def __getattr__(self, name):
        return self.__remote.attribute(f"@{self.__number}", name if name == "__dict__" else _public(name))

    def __setattr__(self, name, value):
        self.__remote.set_attribute(f"@{self.__number}", _public(name), value)

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return self.__number

    def __repr__(self):
        return f"<an object of the submission's class {type(self).__name__}>"

    def __contains__(self, item):
        if not hasattr(type(self), "__iter__") and not hasattr(type(self), "__getitem__"):
            raise TypeError(
                f"an object of the submission's class {type(self).__name__} cannot be iterated over, and whether it contains something is not the submission's to say"
            )
        return any(found is item or found == item for found in iter(self))

    def _RemoteObject__special(self, name, *args):
        return self.__remote.call(f"@{self.__number}.{name}", args, {})

    def _RemoteObject__shown(self, name):
        return object.__repr__(self) if self.__remote.is_quiet else self.__special(name)

    def _RemoteObject__next(self):
        if self.__stream is None:
            object.__setattr__(self, "_RemoteObject__stream", iterators.Stream(self.__remote, self.__number))
        return self.__stream.next()

    def _RemoteObject__exit(self, _kind, error, _traceback):
        return self.__remote.leave(self.__number, error)

    def _RemoteObject__tag(self):
        return {"o": [self.__number, type(self).__name__]}


def class_of(name, names):
    """The class of what stands for objects of a class with these special methods."""
    namespace = {"__slots__": (), "__module__": "submission"}
    for each in names:
        if each in specials.PAIRED:
            namespace[each] = _paired(each)
        elif each in specials.ALONE:
            namespace[each] = _alone(each)
        elif each == specials.NEXT:
            namespace[each] = RemoteObject._RemoteObject__next
        elif each == specials.EXIT:
            namespace[each] = RemoteObject._RemoteObject__exit
    if specials.UNHASHABLE in names:
        namespace["__hash__"] = None
    elif "__eq__" in namespace:
        namespace.setdefault("__hash__", RemoteObject.__hash__)
    return type(name if name.isidentifier() and name.isprintable() else "Object", (RemoteObject,), namespace)


def _alone(name):
    if name in ("__repr__", "__str__"):
        return lambda self: self._RemoteObject__shown(name)
    if name == "__call__":
        return lambda self, *args, **kwargs: self._RemoteObject__remote.call(
            f"@{self._RemoteObject__number}", args, kwargs
        )
    return lambda self, *args: self._RemoteObject__special(name, *args)


def _paired(name):
    return lambda self, other, *more: (
        self._RemoteObject__special(name, other)
        if issubclass(type(other), RemoteObject) and not more
        else NotImplemented
    )


def tag(value):
    """The tag of an argument that is not plain data."""
    kind = type(value)
    if issubclass(kind, RemoteObject):
        return value._RemoteObject__tag()
    if kind is iterators.RemoteGenerator:
        return iterators.tag(value)
    if kind is EntryPoints:
        return {"p": value.__name__}
    raise codec.NotPlain(f"the tests passed an instance of {kind.__name__}, and only plain data reaches a submission")


def _public(name):
    """Python itself asks for names like `__array__`; the submission is not to answer those."""
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(name)
    return name
