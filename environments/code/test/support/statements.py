"""Reads a JSON list of sources. Writes the lines at which statements begin by the module `ast`: those of the top level,
and those of the last function `check`.
"""

import ast
import json
import sys


def first_line(statement: ast.stmt) -> int:
    """Returns the line of the first decorator, if there is one."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def first_lines(block: list[ast.stmt]) -> list[int]:
    """Returns the first lines. Statements on one line, with semicolons between them, count as one."""
    return sorted({first_line(node) for node in block})


def read(source: str) -> dict[str, list[int]] | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    checks = [
        node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == "check"
    ]
    body = checks[-1].body if checks else []
    # A body on the line of its header cannot be split.
    if body and first_line(body[0]) == checks[-1].lineno:
        body = []
    return {"top": first_lines(tree.body), "body": first_lines(body)}


json.dump([read(source) for source in json.load(sys.stdin)], sys.stdout)
