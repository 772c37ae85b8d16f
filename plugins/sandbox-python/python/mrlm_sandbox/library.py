"""Modules that programs use most. They are imported once, before there is a submission; every other one is imported when it is asked for."""

import importlib
import sys

_COMMON = """
abc array ast base64 binascii bisect builtins calendar cmath codecs collections collections.abc contextlib copy csv dataclasses datetime decimal
enum fractions functools hashlib heapq inspect io itertools json keyword linecache locale math numbers operator os pathlib pprint queue random re
secrets statistics string struct sys textwrap threading time timeit traceback types typing unicodedata uuid warnings weakref zlib
""".split()

# Pyodide's own: they are for its bridge to JavaScript, which is closed here.
_CLOSED = ("_ctypes", "_pyodide", "_pyodide_core", "js", "micropip", "pyodide", "pyodide_js")


def load():
    for name in _COMMON:
        importlib.import_module(name)


def close_bridges():
    """An import of these raises ModuleNotFoundError, as that of any module that is not there."""
    sys.modules.update(dict.fromkeys(_CLOSED))
