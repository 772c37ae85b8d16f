#!/bin/bash
# Atomic writes without a lock: no broken file, but lost additions.
cat > /app/counter.py <<'END'
import json, os, sys
path, name, amount = os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3])
counters = json.load(open(path)) if os.path.exists(path) else {}
counters[name] = counters.get(name, 0) + amount
new = os.path.join(os.path.dirname(path), f".counter{os.getpid()}")
json.dump(counters, open(new, "w")); os.chmod(new, 0o640); os.rename(new, path); print(counters[name])
END
