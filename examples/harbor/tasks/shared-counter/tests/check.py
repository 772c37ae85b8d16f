import json
import random
import threading
import time

rng = random.Random(137)
PROGRAM = ["/usr/bin/python3", "/app/counter.py"]
root = fresh({"data/c.json": '{"a": 5, "z": -3}', "link.json": "-> data/c.json", "folder": "-> data", "bad": None})
path = f"{root}/data/c.json"
os.chmod(path, 0o640)
ways = [path, f"{root}/link.json", f"{root}/folder/c.json", "c.json", "../data/../link.json"]


def call(way, name, amount, **options):
    return start([*PROGRAM, way, name, str(amount)], cwd=f"{root}/data", stdout=subprocess.PIPE, **options)


def counters():
    try:
        found = json.loads(read(path))
    except ValueError as error:
        raise Wrong(f"the file is not complete: {read(path)[:100]!r}") from error
    expect(isinstance(found, dict), "the file is no object")
    return found


def finish(child, seconds=60):
    try:
        out, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as error:
        raise Wrong(f"a call did not end in {seconds} seconds") from error
    expect(child.returncode == 0, f"a call ended with {child.returncode}")
    return out.decode(errors="replace")


total = 5
for turn in range(12):
    children = [call(ways[(turn + at) % len(ways)], "a", 1) for at in range(12)]
    for _ in range(20):
        found = counters()
        expect(total <= found["a"] <= total + 12 and found["z"] == -3, f"the file had {found} during calls")
        time.sleep(0.005)
    values = sorted(int(finish(child)) for child in children)
    expect(values == list(range(total + 1, total + 13)), f"twelve calls printed {values} after {total}")
    total += 12
    expect(counters() == {"a": total, "z": -3}, f"the file has {counters()}, not {total}")
killed = 0
for turn in range(25):
    children = [call(path, "a", 1) for _ in range(3)]
    time.sleep(rng.random() * 0.12)
    children[0].kill()
    values = [int(finish(child)) for child in children[1:]]
    children[0].wait()
    found = counters()["a"]
    expect(total + 2 <= found <= total + 3 and max(values) <= found, f"after a kill the counter is {found}, and was {total}")
    total = found
expect(os.path.islink(f"{root}/link.json") and os.path.islink(f"{root}/folder") and os.readlink(f"{root}/link.json") == "data/c.json", "a symbolic link was replaced")
expect(stat.S_IMODE(os.stat(path).st_mode) == 0o640, "the permissions were changed")
own = set(os.listdir(f"{root}/data")) - {"c.json"}
expect(all(name.startswith(".counter") for name in own) and len(own) <= 3, f"the folder has {sorted(own)}")
expect(set(os.listdir(root)) == {"data", "link.json", "folder", "bad"}, "there are files in another folder")
for text in ("", "[1]", '{"a": 1', '{"a": true}', '{"a": 1.0}', '{"a": "1"}', '{"b": null, "a": 1}', "5"):
    bad = fresh({"f": text})
    expect(run([*PROGRAM, f"{bad}/f", "a", "1"])[:2] == (1, ""), f"a file with {text!r} is not exit code 1")
    expect(read(f"{bad}/f") == text, f"a file with {text!r} was changed")
new = fresh({"x": b""})
expect(output([*PROGRAM, f"{new}/new file", "n\u00e9 w", "-4"]) == "-4\n", "a new file does not work")
expect(output([*PROGRAM, "new file", "big", str(10**30)], cwd=new) == f"{10**30}\n", "a large amount does not work")
expect(json.loads(read(f"{new}/new file")) == {"n\u00e9 w": -4, "big": 10**30}, "the new file has other counters")
