#!/bin/bash
# Whole copies by cp: no deduplication, and differences by name alone.
cat > /app/snap.py <<'END'
import os, subprocess, sys
command, store, *rest = sys.argv[1:]
path = lambda n: os.path.join(store, n)
if command == "save":
    os.makedirs(store, exist_ok=True); n = str(len(os.listdir(store)) + 1)
    subprocess.run(["cp", "-a", rest[0], path(n)]); print(n)
elif command == "restore":
    if not os.path.exists(path(rest[0])) or os.path.exists(rest[1]): sys.exit(1)
    subprocess.run(["cp", "-a", path(rest[0]), rest[1]])
elif command == "drop":
    if not os.path.exists(path(rest[0])): sys.exit(1)
    subprocess.run(["rm", "-rf", path(rest[0])]); os.mkdir(path(rest[0]))
else: sys.exit(1)
END
