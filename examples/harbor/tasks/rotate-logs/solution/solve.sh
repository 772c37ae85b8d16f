#!/bin/bash
cat > /app/rotate.py <<'END'
import gzip
import os
import re
import stat
import sys

folder, size, keep = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
names = [name for name in os.listdir(folder) if stat.S_ISREG(os.lstat(os.path.join(folder, name)).st_mode)]


def rotate(log):
    versions = {}
    for name in names:
        match = re.fullmatch(re.escape(log) + r"\.([1-9][0-9]*)(\.gz)?", name, re.DOTALL)
        if match is None:
            continue
        number = int(match[1])
        if number + 1 > keep or (match[2] and f"{log}.{number}" in names):
            os.remove(os.path.join(folder, name))
        else:
            versions[number] = name
    for number, name in sorted(versions.items(), reverse=True):
        path, target = os.path.join(folder, name), os.path.join(folder, f"{log}.{number + 1}.gz")
        if name.endswith(".gz"):
            os.rename(path, target)
        else:
            with open(path, "rb") as source, gzip.open(target, "wb") as file:
                file.write(source.read())
            os.chmod(target, stat.S_IMODE(os.lstat(path).st_mode))
            os.remove(path)
    path = os.path.join(folder, log)
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    if keep > 0:
        os.rename(path, f"{path}.1")
    else:
        os.remove(path)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL, mode))
    os.chmod(path, mode)


for log in sorted((name for name in names if name.endswith(".log")), key=os.fsencode):
    if os.lstat(os.path.join(folder, log)).st_size > size:
        rotate(log)
        print(log)
END
