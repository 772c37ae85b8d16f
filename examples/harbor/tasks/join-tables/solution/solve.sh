#!/bin/bash
cat > /app/join.py <<'END'
import csv
import io
import json
import sys


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        text = file.read()
    first = text.split("\n")[0]
    separator = max(",;\t", key=first.count)
    names, *rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    return names, [dict(zip(names, row + [""] * (len(names) - len(row)))) for row in rows]


left_names, left = table(sys.argv[1])
right_names, right = table(sys.argv[2])
column = sys.argv[3]
if column not in left_names or column not in right_names:
    sys.exit(2)
empty = dict.fromkeys(right_names)
for row in left:
    for other in [each for each in right if each[column] == row[column] != ""] or [empty]:
        renamed = {f"right_{name}" if name in left_names else name: other[name] for name in right_names if name != column}
        print(json.dumps(row | renamed, ensure_ascii=False))
END
