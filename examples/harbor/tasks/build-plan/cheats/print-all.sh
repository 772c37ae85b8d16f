#!/bin/bash
# Prints every command in the right order, whatever the times are.
cat > /app/plan.py <<'END'
import json, sys
rules = json.load(open(sys.argv[1])); done = set()
def visit(name):
    if name in done or name not in rules: return
    done.add(name)
    for need in rules[name]["needs"]: visit(need)
    if "run" in rules[name]: print(rules[name]["run"])
for name in sys.argv[3:]: visit(name)
END
