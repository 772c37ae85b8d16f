"""Modules that programs use most. They are imported once, before there is a submission; every other one is imported when it is asked for."""

import importlib
import site
import sys

_COMMON = """
abc array ast bisect builtins codecs collections collections.abc contextlib copy dataclasses datetime decimal enum fractions functools heapq inspect io
itertools json keyword linecache locale math numbers operator os random re statistics string struct sys textwrap threading time traceback types typing warnings weakref
""".split()
# Also used, but too seldom to copy them into every fork: shared libraries, and megabytes of objects. In Pyodide an import compiles, and a copy costs next to nothing.
_BULKY = "asyncio base64 binascii calendar cmath csv hashlib pathlib pickle pprint queue secrets tempfile timeit unicodedata uuid zlib".split()

# Pyodide's own: they are for its bridge to JavaScript, which is closed here.
_CLOSED = ("_ctypes", "_pyodide", "_pyodide_core", "js", "micropip", "pyodide", "pyodide_js")


def load(bulky):
    for name in (*_COMMON, *_BULKY) if bulky else _COMMON:
        importlib.import_module(name)
    # Without the module's own start (-S) there is no exit(), with which many programs end.
    site.setquit()
    site.sethelper()


def close_bridges():
    """An import of these raises ModuleNotFoundError, as that of any module that is not there."""
    sys.modules.update(dict.fromkeys(_CLOSED))
