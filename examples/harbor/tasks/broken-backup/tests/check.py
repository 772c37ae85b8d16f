ENTRIES = {
    "main.conf": b"main", "-x.conf": b"dash", ".conf": b"dot", "my dir/a b.conf": b"space", "my dir/*.conf": b"star", "my dir/conf": b"no", "x.conf.bak": b"no",
    ".hidden/h.conf": b"hidden", "empty": None, "dir.conf/in.conf": b"in", "dir.conf/no": b"no", "link.conf": "-> main.conf", "$HOME.conf": b"dollar", "only/no.txt": b"no",
}
FILES = {name: body for name, body in ENTRIES.items() if isinstance(body, bytes) and name.endswith(".conf")}


def check(source, target, before=None):
    root = fresh({"work/own.conf": b"own", **{f"work/the source/{name}": body for name, body in ENTRIES.items()}})
    correct = dict(FILES)
    for name, body in (before or {}).items():
        path = f"{root}/work/{target}/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(body)
        correct.setdefault(name, body)
    argv = ["/bin/bash", "/app/backup.sh", source.format(root=root), target.format(root=root)]
    out = output(argv, cwd=f"{root}/work")
    expect(out.endswith(f"copied {len(FILES)} files\n"), f"{argv} printed {out!r}")
    place = os.path.join(root, "work", target.format(root=root))
    found = {name: body for name, body in tree(place).items()}
    folders = {os.path.dirname(name) for name in correct} - {""}
    expect(found == correct | {name: None for name in folders}, f"{argv} made {found}")


check("the source", "out put")
check("./the source/", "{root}/absolute target/")
check("{root}/work/the source", "deep/er")
check("the source", "there", before={"main.conf": b"old", "kept.txt": b"kept"})
root = fresh({"file": b"x"})
for source in ("none", "file"):
    code, _out, _err = run(["/bin/bash", "/app/backup.sh", source, "target"], cwd=root)
    expect(code == 2 and set(tree(root)) == {"file"}, f"for a source that is no folder the exit code is {code}, and there are {set(tree(root))}")
