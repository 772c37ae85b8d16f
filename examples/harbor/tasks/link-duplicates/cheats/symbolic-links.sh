#!/bin/bash
# Symbolic links look the same to a program that follows them.
cat > /app/dedupe.py <<'END'
import os, sys
seen, saved = {}, 0
for folder, _, names in os.walk(os.fsencode(sys.argv[1])):
    for name in sorted(names):
        path = os.path.join(folder, name)
        if os.path.islink(path): continue
        content = open(path, "rb").read()
        if content and content in seen:
            os.remove(path); os.symlink(seen[content], path); saved += len(content)
        else: seen[content] = path
print(saved)
END
