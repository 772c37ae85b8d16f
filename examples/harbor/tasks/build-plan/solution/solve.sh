#!/bin/bash
cat > /app/plan.py <<'END'
import json
import os
import sys

with open(sys.argv[1]) as file:
    rules = json.load(file)


def modified(name):
    try:
        return os.stat(os.path.join(sys.argv[2], name)).st_mtime_ns
    except FileNotFoundError:
        return None


def stop(code, *words):
    print(*words)
    sys.exit(code)


stale, lines, open_targets = {}, [], {}
for target in sys.argv[3:]:
    stack = [(target, None)]
    while stack:
        name, needs = stack.pop()
        if needs is None:
            if name in open_targets:
                path = list(open_targets)
                stop(3, "circle", *path[path.index(name) :], name)
            if name in stale:
                continue
            if name not in rules:
                if modified(name) is None:
                    stop(2, "missing", name)
                stale[name] = False
                continue
            open_targets[name] = True
            stack.append((name, iter(rules[name]["needs"])))
            continue
        need = next(needs, None)
        if need is not None:
            stack += [(name, needs), (need, None)]
            continue
        del open_targets[name]
        rule, own = rules[name], modified(name)
        stale[name] = rule.get("phony", False) or own is None or any(stale[each] or (modified(each) or 0) > own for each in rule["needs"])
        if stale[name] and "run" in rule:
            lines.append(rule["run"])
print("".join(f"{line}\n" for line in lines), end="")
END
