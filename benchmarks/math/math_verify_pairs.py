"""Grades the rows of a JSON Lines file with Math-Verify: a verdict and its seconds for each, as JSON Lines.

The options of a row are given to Math-Verify under its own names; everything else is its default.
"""

import json
import logging
import sys
import time
from typing import Any

from math_verify import parse, verify

NAMES = {"precision": "float_rounding", "strict": "strict", "allow_set_relation_comp": "allow_set_relation_comp"}


def grade(row: dict[str, Any]) -> bool:
    options = {NAMES[name]: value for name, value in (row.get("options") or {}).items() if name in NAMES}
    try:
        return bool(verify(parse(row["expected"]), parse(row["answer"]), **options))
    except Exception:  # a pair that it cannot grade counts as not accepted
        return False


def main() -> None:
    logging.disable(logging.CRITICAL)
    with open(sys.argv[1], encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    grade(rows[0])  # imports and grammars are loaded on first use
    for row in rows:
        start = time.perf_counter()
        equivalent = grade(row)
        print(json.dumps({"equivalent": equivalent, "seconds": time.perf_counter() - start}), flush=True)


if __name__ == "__main__":
    main()
