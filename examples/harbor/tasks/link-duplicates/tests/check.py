import random

rng = random.Random(41)


def check(case):
    root = fresh({"out/keep": b"linked outside", "in": None})
    base = os.fsencode(f"{root}/in")
    names = [b"b", b"a", b".hid/x", b"d d/new\nline", b"\xff\xfe", b"d d/-r", b"Z", b"e1", b"e2", b"a.d/q", b"a/".replace(b"/", b"0"), b"zz", b"only"]
    contents = [b"one" * 999, b"two" * 999, b"onf" * 999, b"x"]
    files = {}
    for name in names:
        path = os.path.join(base, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        files[name] = b"" if name in (b"e1", b"e2") else b"single" if name == b"only" else rng.choice(contents)
        with open(path, "wb") as file:
            file.write(files[name])
        os.chmod(path, rng.choice([0o644, 0o600, 0o755]))
        os.utime(path, (1_600_000_000 + len(name), 1_600_000_000 + 10 * len(name)))
    os.link(os.path.join(base, b"zz"), os.path.join(base, b"zz-same"))
    files[b"zz-same"] = files[b"zz"]
    for name, source in ((b"first", b"a"), (b"~outside", None)):
        if source is None:
            os.link(f"{root}/out/keep", os.path.join(base, name))
            files[name] = b"linked outside"
    with open(os.path.join(base, b"+dup"), "wb") as file:
        file.write(b"linked outside")
    files[b"+dup"] = b"linked outside"
    os.symlink(b"a", os.path.join(base, b"link"))
    os.symlink(b"../out", os.path.join(base, b"dirlink"))
    before = {name: os.lstat(os.path.join(base, name)) for name in files}
    groups = {}
    for name in sorted(files):
        if files[name]:
            groups.setdefault(files[name], []).append(name)
    saved = 0
    for content, group in groups.items():
        others = {before[name].st_ino for name in group} - {before[group[0]].st_ino}
        inside = {inode: sum(each.st_ino == inode for each in before.values()) for inode in others}
        links = {each.st_ino: each.st_nlink for each in before.values()}
        saved += len(content) * sum(inside[inode] == links[inode] for inode in others)
    argv = ["/usr/bin/python3", "/app/dedupe.py", f"{root}/in"]
    got = output(argv)
    expect(got == f"{saved}\n", f"case {case}: printed {got!r}, not {saved}")
    for name, content in files.items():
        path = os.path.join(base, name)
        now, first = os.lstat(path), before[groups[content][0]] if content else before[name]
        expect(stat.S_ISREG(now.st_mode) and now.st_ino == first.st_ino, f"case {case}: {name} is not a link to the first of its content")
        expect((now.st_mode, now.st_mtime_ns, now.st_size) == (first.st_mode, first.st_mtime_ns, len(content)), f"case {case}: {name} was changed")
        with open(path, "rb") as file:
            expect(file.read() == content, f"case {case}: {name} has another content")
    found = {os.path.relpath(os.path.join(folder, name), base) for folder, _names, each in os.walk(base) for name in each}
    expect(found - {b"link", b"dirlink"} == set(files), f"case {case}: there are other names: {found}")
    expect(os.readlink(os.path.join(base, b"link")) == b"a" and os.readlink(os.path.join(base, b"dirlink")) == b"../out", "a symbolic link was changed")
    expect(output(argv) == "0\n", f"case {case}: a second run does not print 0")


for case in range(5):
    check(case)
