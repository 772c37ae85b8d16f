"""Grades programs by verl's `check_correctness` in the sandboxes of `mrlm serve`.

python run.py URL

URL is a port of the server: mrlm serve --http-port 8080 --dialects sandbox-fusion. The last line is
JSON: the results of a program that is right for one case and wrong for another, of one that fails, of one that never
ends, of a function, and of 64 cases.
"""

import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Callable
from typing import Any

# The package verl imports Ray and more; the module of the sandbox needs none of it.
MODULE = "verl/utils/reward_score/sandbox_fusion/utils.py"


def load_check_correctness() -> Callable[..., tuple[list[Any], list[dict[str, Any]]]]:
    path = str(importlib.metadata.distribution("verl").locate_file(MODULE))
    spec = importlib.util.spec_from_file_location("verl_sandbox", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.check_correctness


def main() -> None:
    check_correctness = load_check_correctness()
    url = f"{sys.argv[1].rstrip('/')}/run_code"

    def grade(program: str, cases: dict[str, list[str]], **options: Any) -> list[Any]:
        return check_correctness(url, {**cases}, program, **options)[0]

    double = "print(int(input()) * 2)"
    many = {"inputs": [str(i) for i in range(64)], "outputs": [str(2 * i) for i in range(64)]}
    function = {"inputs": ["3"], "outputs": ["9"], "fn_name": "square"}
    results = {
        "results": grade(double, {"inputs": ["2", "3"], "outputs": ["4", "7"]}),
        "runtime_error": grade("1 / 0", {"inputs": [""], "outputs": [""]}),
        "timeout": grade("while True: pass", {"inputs": [""], "outputs": [""]}, timeout=1),
        "function": grade("def square(n):\n    return n * n", function),
        "right_of_64": grade(double, many).count(True),
    }
    print(json.dumps(results))


main()
