import random
import time

rng = random.Random(149)
PROGRAM = ["/usr/bin/python3", "/app/snap.py"]
NAMES = [b"a", b"a b", b"\xff\xfe", b"-x", b".h", b"line\nbreak", b"z\xc3\xa9", b"a.b", b"A"]


def state(root):
    found = {}
    for folder, names, files in os.walk(os.fsencode(root)):
        for name in names + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            relative, mode = os.path.relpath(path, os.fsencode(root)), stat.S_IMODE(info.st_mode)
            if stat.S_ISLNK(info.st_mode):
                found[relative] = ("link", os.readlink(path))
            elif stat.S_ISDIR(info.st_mode):
                found[relative] = ("folder", mode)
            else:
                if not mode & 0o400:
                    os.chmod(path, 0o600)
                with open(path, "rb") as file:
                    found[relative] = ("file", mode, file.read(2**22), info.st_mtime_ns)
                os.chmod(path, mode)
    return found


def change(root):
    base = os.fsencode(root)
    for _ in range(rng.randrange(3, 9)):
        folder = rng.choice([b"", b"d", b"d/e e", b"x\xfe"])
        path = os.path.join(base, folder, rng.choice(NAMES))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        elif os.path.lexists(path):
            os.remove(path)
        kind = rng.randrange(5)
        if kind == 0:
            os.symlink(rng.choice([b"a", b"../nowhere", b"/etc", b"\xff"]), path)
        elif kind == 1:
            os.mkdir(path)
            os.chmod(path, rng.choice([0o755, 0o700, 0o500]))
        elif kind < 4:
            with open(path, "wb") as file:
                file.write(rng.choice([b"", b"same", rng.randbytes(300)]))
            os.chmod(path, rng.choice([0o644, 0o600, 0o000, 0o4755, 0o444]))
            os.utime(path, ns=(1, rng.randrange(10**18)))


def difference(one, two):
    lines = []
    for name in sorted(one.keys() | two.keys()):
        sign = "+" if name not in one else "-" if name not in two else "~" if one[name][:3] != two[name][:3] else ""
        lines += [f"{sign} ".encode() + name + b"\n"] if sign else []
    return b"".join(lines).decode(errors="replace")


def size(store):
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, names, files in os.walk(store) for name in names + files if not os.path.isdir(os.path.join(folder, name)))


root = fresh({"in/d/e e/first": b"1", "in/one": b"same"})
folder, store, count = f"{root}/in", f"{root}/the store", 0


def restore(number, correct):
    global count
    count += 1
    expect(output([*PROGRAM, "restore", store, str(number), f"{root}/t{count}"]) == "", "restore printed something")
    found = state(f"{root}/t{count}")
    for name in sorted(correct.keys() | found.keys()):
        expect(found.get(name) == correct.get(name), f"snapshot {number}: {name} is {str(found.get(name))[:90]}, not {str(correct.get(name))[:90]}")


saved = {}
for number in range(1, 9):
    change(folder)
    before = state(folder)
    expect(output([*PROGRAM, "save", store, folder]) == f"{number}\n", f"snapshot {number} has another number")
    expect(state(folder) == before, "save changed the folder")
    saved[number] = before
for number in saved:
    restore(number, saved[number])
for one, two in ((1, 2), (2, 1), (3, 8), (5, 5), (8, 7)):
    got, correct = output([*PROGRAM, "diff", store, str(one), str(two)]), difference(saved[one], saved[two])
    expect(got == correct, f"diff {one} {two} printed {got!r}, not {correct!r}")
for number in (8, 3):
    expect(output([*PROGRAM, "drop", store, str(number)]) == "", "drop printed something")
    saved.pop(number)
whole = state(store)
for args in (["restore", store, "3", f"{root}/no"], ["diff", store, "1", "8"], ["drop", store, "99"], ["restore", store, "1", folder], ["restore", f"{root}/none", "1", f"{root}/no"], ["diff", f"{root}/none", "1", "1"]):
    expect(run([*PROGRAM, *args])[:2] == (1, ""), f"{args} is not exit code 1")
    expect(state(store) == whole and not os.path.lexists(f"{root}/no") and not os.path.lexists(f"{root}/none"), f"{args} changed something")
for number in saved:
    restore(number, saved[number])
expect(output([*PROGRAM, "save", store, folder]) == "9\n", "a number was used again")
saved[9] = state(folder)
for _ in range(12):
    change(folder)
    with open(f"{folder}/large", "wb") as file:
        file.write(rng.randbytes(400_000))
    child = start([*PROGRAM, "save", store, folder], stdout=subprocess.PIPE)
    time.sleep(rng.random() * 0.15)
    child.kill()
    line = child.communicate()[0]
    if line.endswith(b"\n"):
        saved[int(line)] = state(folder)
for number in saved:
    restore(number, saved[number])
number = int(output([*PROGRAM, "save", store, folder]))
expect(number > max(saved), "a number was used again after a kill")
restore(number, state(folder))

store = f"{root}/other"
os.mkdir(f"{root}/big")
for at in range(10):
    with open(f"{root}/big/{at}", "wb") as file:
        file.write(rng.randbytes(50_000))
    with open(f"{root}/big/copy of {at}", "wb") as file, open(f"{root}/big/{at}", "rb") as source:
        file.write(source.read())
for _ in range(30):
    output([*PROGRAM, "save", store, f"{root}/big"])
    for at in range(10):
        os.utime(f"{root}/big/{at}", ns=(1, rng.randrange(10**18)))
expect(size(store) < 2_000_000, f"30 snapshots take {size(store)} bytes")
kept, whole = output([*PROGRAM, "save", store, f"{root}/big"]).strip(), state(f"{root}/big")
with open(f"{root}/big/new", "wb") as file:
    file.write(rng.randbytes(1_000_000))
last = int(output([*PROGRAM, "save", store, f"{root}/big"]))
large = size(store)
output([*PROGRAM, "drop", store, str(last)])
expect(size(store) < large - 900_000, "drop does not remove what only its snapshot needs")
restore(kept, whole)
