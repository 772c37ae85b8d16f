import json
import random

rng = random.Random(61)
VALUES = ["x", "y", "", "a,b", "a;b", 'a "b"', "two\nlines", "Zürich", "日本", " padded ", "0", "null", "tab\there"]


def table(names, rows, separator, end, mark=b""):
    def field(value):
        return '"' + value.replace('"', '""') + '"' if any(each in value for each in ',;\t"\n') or rng.random() < 0.2 else value

    lines = [separator.join(names)] + [separator.join(map(field, row)) for row in rows]
    return mark + end.join([*lines, ""]).encode()


for case in range(8):
    left_names, right_names = ["id", "name", "key"], ["name", "key", "größe"][:: 1 if case % 2 else -1]
    left = [[str(at), rng.choice(VALUES), rng.choice(VALUES)] for at in range(30 if case else 0)]
    right = [[rng.choice(VALUES) for _ in right_names] for _ in range(12)]
    correct = []
    at = right_names.index("key")
    for row in left:
        fits = [other for other in right if other[at] == row[2] != ""] or [[None] * 3]
        for other in fits:
            pairs = [("right_" + name if name in left_names else name, value) for name, value in zip(right_names, other) if name != "key"]
            correct.append([*zip(left_names, row), *pairs])
    mark = b"\xef\xbb\xbf" if case % 3 == 1 else b""
    left_bytes = table(left_names, left, ",;\t"[case % 3], "\r\n" if case % 4 == 3 else "\n", mark)
    right_bytes = table(right_names, right, ";\t,"[case % 3], "\n", mark)
    root = fresh({"l": left_bytes, "r": right_bytes})
    argv = ["/usr/bin/python3", "/app/join.py", f"{root}/l", f"{root}/r"]
    out = output([*argv, "key"])
    try:
        got = [json.loads(line, object_pairs_hook=list) for line in out.split("\n") if line]
    except ValueError as error:
        raise Wrong(f"case {case}: printed no JSON lines: {out[:300]!r}") from error
    got = [[tuple(pair) for pair in row] if isinstance(row, list) else row for row in got]
    expect(got == correct, f"case {case}: printed {got[:3]}, not {correct[:3]}")
    expect("\\u" not in out, f"case {case}: letters are escaped")
    expect(run([*argv, "id"])[:2] == (2, ""), f"case {case}: a missing column is not exit code 2")
root = fresh({"l": "k,a\n1\n\n2,x\n", "r": "k,b\n1,\n1,z\n"})
out = output(["/usr/bin/python3", "/app/join.py", f"{root}/l", f"{root}/r", "k"])
correct = [{"k": "1", "a": "", "b": ""}, {"k": "1", "a": "", "b": "z"}, {"k": "2", "a": "x", "b": None}]
expect(out.replace(" ", "") == "".join(json.dumps(row) + "\n" for row in correct).replace(" ", ""), f"short rows and empty lines: printed {out!r}")
