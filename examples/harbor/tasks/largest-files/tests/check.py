import random

rng = random.Random(11)
for case in range(4):
    entries = {"link": "-> big file", "dir link": "-> sub", "empty": b"", "a-dir": None}
    names = ["big file", "-n", "sub/.h/x  y", "sub/tab\tname", ".top", "sub/a", "sub/b", "sub/B", "sub/10", "sub/9"]
    for name in names:
        entries[name] = b"x" * rng.choice([5, 7, 70, 700, 9, 1234])
    entries["sub/same-1"] = entries["sub/same-0"] = entries["sub/Same"] = b"y" * 4000
    root = fresh(entries)
    files = [(-len(value), name.encode()) for name, value in entries.items() if isinstance(value, bytes)]
    for count in (1, 2, 5, 50):
        correct = "".join(f"{-size} {name.decode()}\n" for size, name in sorted(files)[:count])
        got = output(["/bin/bash", "/app/largest.sh", root, str(count)])
        expect(got == correct, f"case {case}, N = {count}: printed {got!r}, not {correct!r}")
