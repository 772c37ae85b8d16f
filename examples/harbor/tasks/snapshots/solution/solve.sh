#!/bin/bash
cat > /app/snap.py <<'END'
import hashlib
import json
import os
import shutil
import stat
import sys

store = os.fsencode(sys.argv[2])
objects, snapshots = os.path.join(store, b"objects"), os.path.join(store, b"snapshots")


def write(path, content):
    """A file has its name only when it is complete."""
    with open(path + b".tmp", "wb") as file:
        file.write(content)
    os.rename(path + b".tmp", path)


def numbers():
    return [int(name) for name in os.listdir(snapshots) if name.isdigit()]


def load(number):
    try:
        with open(os.path.join(snapshots, os.fsencode(number)), "rb") as file:
            return {name.encode("latin1"): entry for name, entry in json.load(file).items()}
    except (FileNotFoundError, NotADirectoryError):
        sys.exit(1)


def content_of(path, mode):
    if not mode & 0o400:
        os.chmod(path, mode | 0o400)
    try:
        with open(path, "rb") as file:
            return file.read()
    finally:
        if not mode & 0o400:
            os.chmod(path, mode)


def save(root):
    os.makedirs(objects, exist_ok=True)
    os.makedirs(snapshots, exist_ok=True)
    entries = {}
    for folder, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            mode = stat.S_IMODE(info.st_mode)
            if stat.S_ISLNK(info.st_mode):
                entry = ["link", os.readlink(path).decode("latin1")]
            elif stat.S_ISDIR(info.st_mode):
                entry = ["folder", mode]
            else:
                content = content_of(path, mode)
                key = hashlib.sha256(content).hexdigest()
                if not os.path.exists(os.path.join(objects, key.encode())):
                    write(os.path.join(objects, key.encode()), content)
                entry = ["file", mode, key, info.st_mtime_ns]
            entries[os.path.relpath(path, root).decode("latin1")] = entry
    last = os.path.join(store, b"last")
    number = 1
    if os.path.exists(last):
        with open(last) as file:
            number = int(file.read()) + 1
    write(last, str(number).encode())
    write(os.path.join(snapshots, str(number).encode()), json.dumps(entries).encode())
    print(number)


def restore(number, target):
    entries = load(number)
    if os.path.lexists(target):
        sys.exit(1)
    os.makedirs(target)
    for name, (kind, *rest) in sorted(entries.items()):
        path = os.path.join(target, name)
        if kind == "folder":
            os.mkdir(path)
        elif kind == "link":
            os.symlink(rest[0].encode("latin1"), path)
        else:
            mode, key, when = rest
            shutil.copyfile(os.path.join(objects, key.encode()), path)
            os.utime(path, ns=(when, when))
            os.chmod(path, mode)
    for name, (kind, *rest) in sorted(entries.items(), reverse=True):
        if kind == "folder":
            os.chmod(os.path.join(target, name), rest[0])


def diff(one, two):
    one, two = load(one), load(two)
    for name in sorted(one.keys() | two.keys()):
        sign = b"+" if name not in one else b"-" if name not in two else b"~" if one[name][:3] != two[name][:3] else b""
        if sign:
            sys.stdout.buffer.write(sign + b" " + name + b"\n")


def drop(number):
    load(number)
    os.remove(os.path.join(snapshots, os.fsencode(number)))
    used = {entry[2] for each in numbers() for entry in load(str(each)).values() if entry[0] == "file"}
    for key in os.listdir(objects):
        if key.decode() not in used:
            os.remove(os.path.join(objects, key))


commands = {"save": save, "restore": restore, "diff": diff, "drop": drop}
command, _, *args = sys.argv[1:]
commands[command](*(args if command in ("diff", "drop") else [os.fsencode(arg) if at == len(args) - 1 else arg for at, arg in enumerate(args)]))
END
