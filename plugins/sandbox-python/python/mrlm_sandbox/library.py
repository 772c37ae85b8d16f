"""Modules that programs use most. They are imported once, before the first submission."""

import importlib
import site
import sys
from typing import Any

_COMMON = """
abc array ast bisect builtins codecs collections collections.abc contextlib copy dataclasses datetime decimal enum
fractions functools heapq inspect io itertools json keyword linecache locale math numbers operator os random re
statistics string struct sys textwrap threading time traceback types typing warnings weakref
""".split()
# Used too seldom to copy them into every fork: shared libraries, and megabytes of objects. In Pyodide an import
# compiles, and a copy costs little.
_BULKY = """
asyncio base64 binascii calendar cmath csv hashlib pathlib pickle pprint queue secrets tempfile timeit unicodedata uuid
zlib
""".split()

# Pyodide's modules of its bridge to JavaScript, which is closed here.
_CLOSED = ("_ctypes", "_pyodide", "_pyodide_core", "js", "micropip", "pyodide", "pyodide_js")


def load(bulky: bool) -> None:
    for name in (*_COMMON, *_BULKY) if bulky else _COMMON:
        importlib.import_module(name)
    # Python without `site` (-S) has no exit(), with which many programs end.
    site.setquit()
    site.sethelper()


def close_bridges() -> None:
    """Makes an import of Pyodide's bridge raise ModuleNotFoundError."""
    closed: dict[str, Any] = dict.fromkeys(_CLOSED)
    sys.modules.update(closed)
