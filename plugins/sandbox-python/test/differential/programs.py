"""
Writes programs with tests as JSON to standard output, with the verdict of each test when both run in one CPython. Arguments: a seed, a count.

Left out is what the sandbox documents to be different: operators between an object of the submission and a value of the tests, StopIteration from a function,
a `with` that suppresses a failed check, and changes of data that an attribute has given.
"""

import json
import random
import sys

SCALARS = ["0", "-7", "3.5", "1e300", "True", "None", "''", "'é\\u20ac'", "b'\\x00\\xff'", "10**40", "-2**70", "1j", "float('inf')", "'\\ud800'", "...", "int", "range(3, 30, 4)"]
KEYS = ["1", "'a'", "(1, 'b')", "2.5", "frozenset({1})", "b'k'", "False"]
LIBRARY = ["Decimal('1.50')", "Fraction(6, 4)", "date(2024, 2, 29)", "timedelta(1, 2, 3)", "datetime(2020, 1, 2, 3, 4, 5)", "time(1, 2)", "Pair(1, 'x')", "array('i', [1, 2])"]
IMPORTS = """import asyncio, collections, contextlib, copy, dataclasses, enum, functools, inspect, itertools, json, types
from array import array
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
"""
PAIR = "Pair = namedtuple('Pair', 'left right')\n"


class Draw(random.Random):
    def value(self, depth=3):
        if depth == 0 or self.random() < 0.25:
            return self.choice(SCALARS + LIBRARY)
        items = [self.value(depth - 1) for _ in range(self.randrange(4))]
        keys = self.sample(KEYS, self.randrange(4))
        pairs = ", ".join(f"{key}: {self.value(depth - 1)}" for key in keys)
        counts = ", ".join(f"{key}: {self.randrange(9)}" for key in keys)
        hashable = ", ".join(keys)
        return self.choice([
            f"[{', '.join(items)}]", f"({''.join(item + ', ' for item in items)})", f"{{{pairs}}}", f"set([{hashable}])", f"frozenset([{hashable}])",
            f"deque([{', '.join(items)}], {self.choice(['None', '3'])})", f"Counter({{{counts}}})", f"OrderedDict({{{pairs}}})", f"defaultdict(list, {{{pairs}}})",
            f"bytearray(b'{'ab' * self.randrange(3)}')", f"Pair({self.value(depth - 1)}, {self.value(depth - 1)})",
        ])

    def numbers(self):
        return [self.randrange(20) for _ in range(self.randrange(1, 7))]


def containers(draw):
    value, other = draw.value(), draw.value()
    yield f"def f(): return {value}\ndef same(x): return x\ndef put(x): x.append({value}); return None", ["f", "same", "put"], [
        f"assert f() == {value}", f"assert f() == {other}", f"assert repr(f()) == repr({value})" if "set(" not in value else "assert f()", f"assert type(f()) is type({value})", f"assert type(f()) is type({other})",
        f"assert same({value}) == {value}", f"assert bool(f()) == bool({value})", f"x = [1]\nassert put(x) is None\nassert x == [1, {value}]", "x = [1]\nput(x)\nassert x == [1]",
        "x = [[1], {2: [3]}]\nassert same(x) is x", f"assert copy.deepcopy(f()) == {value}", "assert len(f()) == 2", "assert sorted(f()) == list(f())",
    ]


ITERATORS = [
    "iter({n})", "iter(tuple({n}))", "iter('abc')", "iter({{1: 2, 3: 4}})", "iter({{1: 2}}.items())", "reversed({n})", "reversed({{1: 2, 3: 4}})", "reversed({{1: 2, 3: 4}}.items())", "reversed(deque({n}))",
    "map(lambda x: x * 2, {n})", "filter(None, {n})", "zip({n}, {m})", "enumerate({n}, 3)", "(x + 1 for x in {n})", "itertools.count({k})", "itertools.cycle({n})", "itertools.repeat({k})", "itertools.repeat({k}, 3)",
    "itertools.chain({n}, {m})", "itertools.accumulate({n})", "itertools.islice(itertools.count(), 2, 9, 2)", "itertools.product({n}, 'ab')", "itertools.permutations({n}, 2)", "itertools.combinations({n}, 2)",
    "itertools.zip_longest({n}, {m})", "itertools.takewhile(lambda x: x < 9, {n})", "itertools.dropwhile(lambda x: x < 9, {n})", "itertools.starmap(pow, zip({n}, {m}))", "itertools.compress({n}, {m})",
    "itertools.filterfalse(None, {n})", "itertools.tee({n})[1]", "itertools.pairwise({n})", "((key, list(group)) for key, group in itertools.groupby({n}, lambda x: x % 2))", "iter(iter({n}).__next__, {k})",
    "Counting({k})", "Old({n})", "Walk({n})", "endless()", "delegating({n})", "iter(range({k}))", "iter(bytearray(b'xyz'))", "iter(set({n}))", "array('i', {n}).__iter__()", "OrderedDict.fromkeys({n}).__iter__()", "zip(itertools.count(), {n})",
]
OWN_ITERATORS = """
class Counting:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n <= 0: raise StopIteration
        self.n -= 1
        return self.n
class Old:
    def __init__(self, items): self.items = items
    def __getitem__(self, at): return self.items[at]
class Walk:
    def __init__(self, items): self.items = items
    def __iter__(self): return iter(self.items)
    def __len__(self): return len(self.items)
    def __reversed__(self): return reversed(self.items)
def endless():
    n = 0
    while True:
        yield n
        n += 1
def delegating(items):
    yield from items
    return (yield len(items))
"""


def iterators(draw):
    n, m, k = draw.numbers(), draw.numbers(), draw.randrange(5)
    expression = draw.choice(ITERATORS).format(n=n, m=m, k=k)
    first, take = f"list(itertools.islice({expression}, 6))", "list(itertools.islice(f(), 6))"
    program = f"{OWN_ITERATORS}\ndef f(): return {expression}\nmade = []\ndef seen():\n    for x in {n}:\n        made.append(x)\n        yield x\ndef count(): return len(made)"
    yield program, ["f", "seen", "count", *OWN_NAMES], [
        f"assert {take} == {first}", f"assert {take} == {first} + [0]", "x = f()\nassert list(itertools.islice(x, 2)) + list(itertools.islice(x, 2)) == " + f"{first}[:4]",
        f"x = iter(f())\nassert next(x) == next(iter({expression}))", "x = f()\nassert iter(x) is x", f"assert [a for a, _ in zip(f(), range(3))] == {first}[:3]",
        f"total = []\nfor x in f():\n    total.append(x)\n    if len(total) == 4: break\nassert total == {first}[:4]", "assert next(iter(f()), 'none') == 'none'", "assert f()", "assert len(f()) == len(list(f()))" if "endless" not in expression and "cycle" not in expression and "repeat" not in expression and "count" not in expression else "assert len(f())",
        "a, *b = itertools.islice(f(), 3)\nassert b", "x = seen()\nnext(x)\nassert count() == 1", "x = seen()\nassert max(x) == " + str(max(n)), "assert list(reversed(f())) == 5", "assert callable(f()) or hasattr(f(), '__next__')",
        "assert isinstance(f(), collections.abc.Iterator)", "assert f()[0] == 1",
    ]


OWN_NAMES = ["Counting", "Old", "Walk", "endless", "delegating"]
METHODS = {
    "__len__": "return self.n", "__bool__": "return self.n > 2", "__repr__": "return f'<{self.n}>'", "__str__": "return f'n={self.n}'", "__lt__": "return self.n < other.n", "__le__": "return self.n <= other.n",
    "__eq__": "return isinstance(other, Own) and self.n == other.n", "__hash__": "return hash(self.n)", "__add__": "return Own(self.n + other.n)", "__sub__": "return Own(self.n - other.n)", "__getitem__": "return [self.n, key][key]",
    "__iter__": "return iter([self.n, 5])", "__call__": "return self.n + args[0]", "__int__": "return self.n", "__float__": "return self.n / 2", "__abs__": "return abs(self.n)", "__neg__": "return Own(-self.n)", "__index__": "return self.n",
    "__format__": "return spec + '!'", "__setitem__": "self.n = value", "__reversed__": "return iter([5, self.n])", "__round__": "return 7", "__iadd__": "self.n += other.n; return self", "__gt__": "return self.n > other.n", "__or__": "return Own(self.n | other.n)",
}
ARGUMENTS = {"__getitem__": ", key", "__setitem__": ", key, value", "__call__": ", *args", "__format__": ", spec"}
PAIRED = ("__lt__", "__le__", "__eq__", "__add__", "__sub__", "__iadd__", "__gt__", "__or__")


def classes(draw):
    names = draw.sample(sorted(METHODS), draw.randrange(8))
    lines = [f"    def {name}(self{', other' if name in PAIRED else ARGUMENTS.get(name, '')}): {METHODS[name]}" for name in names]
    k = draw.randrange(1, 5)
    program = "\n".join([
        "class Base:", "    kind = 'base'", "    def name(self): return type(self).__name__", "class Own(Base):", "    def __init__(self, n): self.n = n", *lines,
        "    def double(self): return self.n * 2", "    def me(self): return self", "    @property", "    def half(self): return self.n / 2", "    @classmethod", "    def make(cls, n): return cls(n)", "    @staticmethod", "    def triple(n): return n * 3",
        f"def f(): return Own({k})", "def many(): return [Own(3), Own(1), Own(2)]", "class Color(enum.Enum):\n    RED = 1\n    BLUE = 2\ndef color(): return Color.RED",
        "@dataclasses.dataclass(order=True)\nclass Point:\n    x: int\n    y: int = 2\ndef point(): return Point(1)", "def total(own): return own.n + 1",
    ])
    yield program, ["Own", "f", "many", "Color", "color", "Point", "point", "total"], [
        f"assert f().n == {k}", "assert f().n == 99", "assert len(f()) == f().n", "assert f()", "assert not f()", "assert repr(f()).startswith('<')", "assert str(f()) == 'n=' + str(f().n)", "assert sorted(many())[0].n == 1",
        "assert max(many(), key=lambda x: x.n).n == 3", "assert f() == f()", "assert f() != Own(77)", "assert len({Own(1), Own(1)}) == 1", "assert (Own(1) + Own(2)).n == 3", "assert Own(1)[1] == 1", "assert list(f()) == [f().n, 5]",
        "assert f()(3) == f().n + 3", "assert int(f()) == f().n", "assert float(f()) == f().n / 2", "assert abs(Own(-3)) == 3", "assert (-Own(3)).n == -3", "assert [0] * 2 == [0, 0][:Own(2)]", "assert f'{f():x}' == 'x!'", "x = f()\nx[0] = 9\nassert x.n == 9",
        "assert list(reversed(f())) == [5, f().n]", "assert round(f()) == 7", "x = f()\ny = x\nx += Own(1)\nassert y.n == x.n", "assert f() is f()", "x = f()\nassert x.me() is x", "x = f()\nx.n = 8\nassert x.double() == 16", "assert f().half == f().n / 2",
        "assert Own.make(4).n == 4 and Own.triple(2) == 6 and Own.kind == 'base'", "assert f().name() == 'Own' and type(f()).__name__ == 'Own'", "assert isinstance(f(), Own)", "assert isinstance(f(), Point)", "assert f().missing == 1", "assert hasattr(f(), 'missing')",
        "assert color() == Color.RED and color() is Color.RED and color().value == 1 and color() != Color.BLUE", "assert color() == Color.BLUE", "assert [c.name for c in Color] == ['RED', 'BLUE']", "assert point() == Point(1, 2) and point() != Point(2)", "assert point() < Point(1, 3)",
        "assert sorted([Point(2), Point(1)])[0].x == 1", "assert point().y == 3", "assert total(f()) == f().n + 1", "assert 5 in f()", "assert getattr(f(), 'gone', 3) == 3", "assert f() < f()", "assert (Own(1) | Own(2)).n == 3", "assert callable(f())", "assert vars(f())['n'] == f().n",
        "assert (Own(5) - Own(2)).n == 3", "assert f() > Own(0)", "x = f()\nassert hash(x) == hash(x.me())", "assert repr(point()) == 'Point(x=1, y=2)'",
    ]


ERRORS = [
    "ValueError('bad', 3)", "KeyError('k')", "IndexError()", "TypeError('é')", "ZeroDivisionError('x')", "OSError(2, 'gone')", "FileNotFoundError(2, 'gone', 'file')", "UnicodeDecodeError('utf-8', b'abc', 1, 2, 'why')", "UnicodeEncodeError('ascii', 'h\\xe9', 1, 2, 'why')",
    "AttributeError('no', name='x')", "ImportError('no', name='m', path='p')", "NameError('n', name='n')", "RecursionError('deep')", "OverflowError(1)", "AssertionError('own')", "NotImplementedError()", "Own(4)", "Own(5, 'x')", "Sub('a')", "Both('b')", "Plain()", "LookupError([1, {2: 3}])",
    "json.JSONDecodeError('m', 'doc', 1)", "EOFError('e')", "PermissionError(13, 'p')", "RuntimeError(None)", "SyntaxError('s')", "BufferError(b'x')", "ArithmeticError(1.5)", "MemoryError('m')", "TimeoutError('t')", "SystemExit(3)", "KeyboardInterrupt()", "UnicodeError('u')",
]
OWN_ERRORS = """
class Own(ValueError):
    def __init__(self, code, *rest):
        super().__init__(code, *rest)
        self.code = code
        self.rest = [*rest]
    def twice(self): return self.code * 2
    def __str__(self): return f'own {self.code}'
class Sub(Own): pass
class Both(KeyError, AttributeError): pass
class Plain(Exception):
    extra = 9
"""


def errors(draw):
    error = draw.choice(ERRORS)
    how = draw.choice(["", " from KeyError('cause')", " from None"])
    program = f"{OWN_ERRORS}\ndef f():\n    try:\n        [][1]\n    except IndexError:\n        raise {error}{how}\ndef g(): raise {error}\ndef h():\n    error = {error}\n    error.extra = [1, (2,)]\n    raise error\ndef ok(): return 1"
    caught = "try: {call}\nexcept BaseException as e: assert {check}\nelse: assert False, 'nothing was raised'"
    checks = [
        f"type(e).__name__ == {error.split('(')[0].split('.')[-1]!r}", "isinstance(e, ValueError)", "isinstance(e, LookupError)", "isinstance(e, OSError)", "isinstance(e, Exception)", f"e.args == ({error}).args", f"str(e) == str({error})", "e.args == ()", "e.code == 4", "e.rest == ['x']", "e.twice() == 8",
        "e.name == 'x'", "e.path == 'p'", "e.errno == 2", "e.filename == 'file'", "e.start == 1 and e.end == 2", "e.pos == 1", "e.extra == 9", "isinstance(e, AttributeError)", "[k.__name__ for k in type(e).__mro__][-1] == 'object'", "e.missing",
    ]
    own = IMPORTS + OWN_ERRORS
    tests = [caught.format(call="g()", check=check) for check in draw.sample(checks, 9)] + [
        caught.format(call="f()", check="isinstance(e.__cause__, KeyError)"), caught.format(call="f()", check="isinstance(e.__context__, IndexError)"), caught.format(call="f()", check="e.__cause__ is None"), caught.format(call="h()", check="e.extra == [1, (2,)]"),
        "g()", "assert ok() == 1", "try: g()\nexcept Own: pass", "try: g()\nexcept (KeyError, Sub): pass", "try: g()\nexcept Exception: pass", "try: g()\nfinally: assert ok() == 1",
    ]
    # Tests construct their own values from a copy of the classes.
    yield program, ["f", "g", "h", "ok", "Own", "Sub"], [f"_own = {{}}\nexec({own!r}, _own)\nBoth, Plain = _own['Both'], _own['Plain']\n{test.replace('(Own(', '(_own[chr(79)+chr(119)+chr(110)](').replace('(Sub(', '(_own[chr(83)+chr(117)+chr(98)](')}" for test in tests]


def generators(draw):
    n = draw.numbers()
    program = "\n".join([
        f"log = []\ndef g():\n    got = []\n    try:\n        for x in {n}:\n            got.append((yield x))\n    except ValueError as e:\n        log.append(str(e))\n        yield 'caught'\n    finally:\n        log.append('end')\n    return got",
        "def seen(): return list(log)", "def outer():\n    result = yield from g()\n    yield result", "def bad():\n    yield 1\n    raise KeyError('late')", "async def later(x):\n    await asyncio.sleep(0)\n    return [x]",
        "@functools.lru_cache\ndef cached(x): return x + 1", "def adder(k): return lambda x: x + k", "def big(n): return (i for i in range(n))",
    ])
    yield program, ["g", "seen", "outer", "bad", "later", "cached", "adder", "big"], [
        f"assert list(g()) == {n}", f"assert list(outer())[:-1] == {n}", "x = g()\nnext(x)\ntry:\n    while True: x.send(7)\nexcept StopIteration as e: assert set(e.value) <= {7}\n", "x = g()\nnext(x)\nassert x.throw(ValueError('v')) == 'caught'\nassert 'v' in seen()",
        "x = g()\nnext(x)\ntry: x.throw(KeyError('k'))\nexcept KeyError as e: assert e.args == ('k',)\nelse: assert False", "x = g()\nnext(x)\nx.close()\nassert seen()[-1] == 'end'\nassert list(x) == []", "x = g()\nassert x.send(1)", "assert inspect.isgenerator(g()) and isinstance(g(), types.GeneratorType)",
        "x = bad()\nassert next(x) == 1\ntry: next(x)\nexcept KeyError as e: assert e.args == ('late',)\nelse: assert False", "assert list(bad())", "x = bad()\nassert next(x) == 1\nassert next(x, 5) == 5", "assert asyncio.run(later(3)) == [3]", "assert asyncio.run(later(3)) == 3", "assert cached(2) == 3 and adder(3)(4) == 7",
        f"assert sum(big({draw.choice([10, 700, 3000])})) > 44", "assert sorted(big(5), reverse=True) == [4, 3, 2, 1, 0]", "x = big(600)\nfor _ in range(400): last = next(x)\nassert last == 399 and list(x)[0] == 400", "assert any(x > 3 for x in big(9)) and all(big(0))", "assert dict(zip(big(3), 'abc')) == {0: 'a', 1: 'b', 2: 'c'}", "assert g() == g()",
        "assert iter(g()) is not None and not hasattr(g(), '__len__')", "x = big(3)\nassert 1 in x and list(x) == [2]",
    ]


def managers(draw):
    suppress = draw.choice(["True", "False", "None", "kind is KeyError"])
    program = "\n".join([
        f"class Manager:\n    def __init__(self): self.log = []\n    def __enter__(self):\n        self.log.append('in')\n        return self\n    def __exit__(self, kind, error, trace):\n        self.log.append(kind.__name__ if kind else None)\n        return {suppress}",
        "def make(): return Manager()", "@contextlib.contextmanager\ndef value(x):\n    yield x\n", "@contextlib.contextmanager\ndef quiet():\n    try:\n        yield 1\n    except ValueError:\n        pass", "def fail(): raise KeyError('x')",
        "class Closing:\n    def close(self): self.closed = True", "def closing(): return Closing()", "class Refuses:\n    def __enter__(self): raise OSError('no')\n    def __exit__(self, *_): pass",
    ])
    yield program, ["Manager", "make", "value", "quiet", "fail", "closing", "Refuses"], [
        "with make() as m: assert m.log == ['in']\nassert m.log == ['in', None]", "with value(5) as x: assert x == 5", "with value(5) as x: assert x == 6", "m = make()\nwith m: raise KeyError('k')\nassert m.log == ['in', 'KeyError']", "m = make()\nwith m: raise ValueError('k')\nassert m.log[-1] == 'ValueError'",
        "with quiet(): raise ValueError('gone')", "with quiet(): raise KeyError('stays')", "with quiet() as q: assert q == 1", "m = make()\nwith m, value(1) as x: assert x == 1\nassert m.log == ['in', None]", "with contextlib.closing(closing()) as c: pass\nassert c.closed",
        "try:\n    with Refuses(): pass\nexcept OSError as e: assert e.args == ('no',)\nelse: assert False", "with contextlib.ExitStack() as stack:\n    m = stack.enter_context(make())\nassert m.log == ['in', None]", "with make(): pass", "with closing(): pass",
    ]


KINDS = [containers, iterators, classes, errors, generators, managers]


def verdicts(program, entry_points, tests):
    submission = {"__name__": "submission"}
    exec(program, submission)
    namespace = {"__name__": "tests", **{name: submission[name] for name in entry_points}}
    exec(IMPORTS + PAIR, namespace)
    found = []
    for test in tests:
        try:
            exec(test, namespace)
            found.append("passed")
        except BaseException:
            found.append("failed")
    return found


def main(seed, count):
    draw = Draw(seed)
    made: list[dict[str, object]] = []
    while len(made) < count:
        for program, entry_points, tests in KINDS[len(made) % len(KINDS)](draw):
            code = IMPORTS + PAIR + program
            made.append({"code": code, "entryPoints": entry_points, "harness": IMPORTS + PAIR, "tests": tests, "expected": verdicts(code, entry_points, tests)})
    json.dump(made, sys.stdout)


main(int(sys.argv[1]), int(sys.argv[2]))
