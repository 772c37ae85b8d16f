"""Writes mutants of a function: JSON {source, function, seed} on stdin, a JSON list of {kind, source} on stdout.

It runs inside the sandbox, so no Python is needed. Kinds alternate in an order that the seed decides. `return None` is
last.
"""

import ast
import copy
import json
import random
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

# Nodes are of any kind; `isinstance` narrows them.
Node = Any
Change = Callable[[], object]

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def constants(node: Node, random: random.Random) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield lambda: setattr(node, "value", not value)
    elif isinstance(value, (int, float)):
        yield lambda: setattr(node, "value", value + random.choice((1, 2, -1)))
    elif isinstance(value, str):
        yield lambda: setattr(node, "value", value[1:] if value else "x")


def off_by_one(node: Node, _random: random.Random) -> Iterator[Change]:
    """Changes the bounds of ranges, slices and comparisons."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda: node.ops.__setitem__(0, COMPARISONS[type(node.ops[0])]())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        yield lambda: node.args.__setitem__(-1, ast.BinOp(node.args[-1], ast.Sub(), ast.Constant(1)))
    if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in OPERATORS:
        yield lambda: setattr(node, "op", OPERATORS[type(node.op)]())


def swapped_branches(node: Node, _random: random.Random) -> Iterator[Change]:
    if isinstance(node, (ast.If, ast.IfExp)) and node.orelse:

        def swap() -> None:
            node.body, node.orelse = node.orelse, node.body

        yield swap
    elif isinstance(node, (ast.If, ast.While)):
        yield lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield lambda: node.ifs.__setitem__(0, ast.UnaryOp(ast.Not(), node.ifs[0]))


def dropped_statements(node: Node, _random: random.Random) -> Iterator[Change]:
    for block in (getattr(node, name, None) for name in ("body", "orelse")):
        if not isinstance(block, list):
            continue
        for at, statement in enumerate(block):
            is_documentation = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_documentation and not isinstance(
                statement, (ast.Return, ast.FunctionDef, ast.Import, ast.ImportFrom)
            ):
                yield partial(block.__setitem__, at, ast.Pass())


def nothing_returned(node: Node, _random: random.Random) -> Iterator[Change]:
    if isinstance(node, ast.Return) and node.value is not None:
        yield lambda: setattr(node, "value", ast.Constant(None))


KINDS = {
    "constant": constants,
    "off by one": off_by_one,
    "swapped branch": swapped_branches,
    "dropped statement": dropped_statements,
    "return None": nothing_returned,
}


def function_of(tree: ast.Module, name: str) -> ast.FunctionDef:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name][-1]


def mutations(function: ast.FunctionDef, kind: str, random: random.Random) -> list[Change]:
    """Everything of one kind that can be done to the function, in the order of its tree."""
    documentation = getattr(function.body[0], "value", None) if ast.get_docstring(function) is not None else None
    return [change for node in ast.walk(function) if node is not documentation for change in KINDS[kind](node, random)]


def mutants(source: str, name: str, seed: int) -> Iterator[dict[str, str]]:
    tree = ast.parse(source)
    order = random.Random(seed)
    places = {}
    for kind in KINDS:
        places[kind] = list(range(len(mutations(function_of(tree, name), kind, order))))
        order.shuffle(places[kind])
    kinds = [kind for kind in KINDS if kind != "return None"]
    order.shuffle(kinds)
    while any(places.values()):
        for kind in kinds if any(places[kind] for kind in kinds) else ["return None"]:
            if places[kind]:
                mutant = copy.deepcopy(tree)
                mutations(function_of(mutant, name), kind, random.Random(seed))[places[kind].pop()]()
                yield {"kind": kind, "source": ast.unparse(ast.fix_missing_locations(mutant))}


request = json.load(sys.stdin)
json.dump(list(mutants(request["source"], request["function"], request["seed"])), sys.stdout)
