"""Prints the number of code lines of each source of a JSON list: no blanks, comments, docstrings, imports."""

import ast
import io
import json
import sys
import tokenize

BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def count(source: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = {line for token in tokens if token.type not in BLANK for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if text or isinstance(node, (ast.Import, ast.ImportFrom)):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


print(json.dumps([count(source) for source in json.load(sys.stdin)]))
