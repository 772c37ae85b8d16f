import gzip
import random
import re

rng = random.Random(83)


def rotate(files, size, keep):
    """Returns the expected files: name to content and permissions; contents of compressed ones unpacked."""
    result, names = dict(files), []
    for log in sorted(name for name in files if name.endswith(".log") and len(files[name][0]) > size):
        names.append(log)
        versions = {}
        for name in files:
            match = re.fullmatch(re.escape(log) + r"\.([1-9]\d*)(\.gz)?", name)
            if match:
                result.pop(name)
                number = int(match[1])
                if number not in versions or not match[2]:
                    versions[number] = files[name]
        versions[0] = files[log]
        for number, version in versions.items():
            if number + 1 <= keep:
                result[f"{log}.{number + 1}" + (".gz" if number > 0 else "")] = version
        result[log] = (b"", files[log][1])
    return result, names


def check(case):
    files = {}
    bases = ["app.log", "a b.log", "[x]*.log", "-v.log", ".h.log", "app.log.log", "small.log", "x.log.txt", "xlog"]
    for base in bases:
        files[base] = (rng.randbytes(rng.choice([0, 99, 100, 101, 3000])), rng.choice([0o644, 0o600, 0o640]))
        for number in ("1", "2", "3", "4", "7", "10", "01", "0"):
            for end in ("", ".gz", ".bak", ".gz.tmp"):
                if rng.random() < (0.5 if end == ".gz" else 0.2):
                    files[f"{base}.{number}{end}"] = (f"{base} {number} {end}".encode(), rng.choice([0o644, 0o600]))
    size, keep = 100, [3, 0, 1, 5, 20, 3, 8][case]
    root = fresh({"in/sub/deep.log": b"d" * 5000, "in/dir.log": None, "in/link.log": "-> sub/deep.log"})
    for name, (content, mode) in files.items():
        path = f"{root}/in/{name}"
        with open(path, "wb") as file:
            file.write(gzip.compress(content) if name.endswith(".gz") else content)
        os.chmod(path, mode)
    for turn in range(2):
        correct, names = rotate(files, size, keep)
        out = output(["/usr/bin/python3", "/app/rotate.py", f"{root}/in", str(size), str(keep)])
        expect(out == "".join(f"{name}\n" for name in names), f"case {case}: printed {out!r}, not {names}")
        found = {}
        for name in os.listdir(f"{root}/in"):
            path = f"{root}/in/{name}"
            if name in ("sub", "dir.log", "link.log"):
                continue
            expect(stat.S_ISREG(os.lstat(path).st_mode), f"{name} is no file")
            with open(path, "rb") as file:
                content = file.read(2**20)
            if name.endswith(".gz"):
                try:
                    content = gzip.decompress(content)
                except (OSError, EOFError) as error:
                    raise Wrong(f"case {case}: {name} is not compressed by gzip: {error}") from error
            found[name] = (content, stat.S_IMODE(os.lstat(path).st_mode))
        for name in sorted(set(correct) | set(found)):
            expect(name in found, f"case {case}, turn {turn}: {name} is missing")
            expect(name in correct, f"case {case}, turn {turn}: {name} is left")
            expect(found[name] == correct[name], f"case {case}, turn {turn}: {name} is {found[name]}, not {correct[name]}")
        expect(read(f"{root}/in/sub/deep.log") == "d" * 5000 and os.readlink(f"{root}/in/link.log") == "sub/deep.log" and os.listdir(f"{root}/in/dir.log") == [], "other files were changed")
        files = correct
        for name in names[::2]:
            files[name] = (rng.randbytes(500), files[name][1])
            with open(f"{root}/in/{name}", "wb") as file:
                file.write(files[name][0])


for case in range(7):
    check(case)
