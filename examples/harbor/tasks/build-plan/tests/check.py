import json
import random

rng = random.Random(107)


def plan(rules, times, targets):
    """Returns exit code and output. `times` has the files of the folder."""
    stale, out, path = {}, [], {}
    for target in targets:
        stack = [(target, None)]
        while stack:
            name, needs = stack.pop()
            if needs is None:
                if name in path:
                    return 3, " ".join(["circle", *list(path)[list(path).index(name) :], name]) + "\n"
                if name in stale:
                    continue
                if name not in rules:
                    if name not in times:
                        return 2, f"missing {name}\n"
                    stale[name] = False
                    continue
                path[name] = True
                stack.append((name, iter(rules[name]["needs"])))
                continue
            following = next(needs, None)
            if following is not None:
                stack += [(name, needs), (following, None)]
                continue
            path.pop(name)
            rule = rules[name]
            old = rule.get("phony", False) or name not in times or any(stale[need] or times.get(need, 0) > times[name] for need in rule["needs"])
            stale[name] = old
            if old and "run" in rule:
                out.append(rule["run"])
    return 0, "".join(f"{line}\n" for line in out)


def check(label, rules, times, targets):
    root = fresh({"rules.json": json.dumps(rules), **{f"in/{name}": b"" for name in times}, "in/.keep": b""})
    for name, when in times.items():
        os.utime(f"{root}/in/{name}", ns=(when, when))
    got, correct = run(["/usr/bin/python3", "/app/plan.py", f"{root}/rules.json", f"{root}/in", *targets])[:2], plan(rules, times, targets)
    expect(got == correct, f"{label}: exit code {got[0]} and {got[1][:300]!r}, not {correct[0]} and {correct[1][:300]!r}")


BASE = 1_700_000_000_000_000_000
for case in range(40):
    names = [f"n{at}" for at in range(rng.randrange(3, 12))]
    rules, times = {}, {}
    for at, name in enumerate(names):
        if rng.random() < 0.7:
            pool = names if case % 3 == 0 else names[at + 1 :]
            rules[name] = {"needs": [rng.choice(pool) for _ in range(rng.randrange(4))] if pool else []}
            if rng.random() < 0.8:
                rules[name]["run"] = f"make {name}"
            if rng.random() < 0.2:
                rules[name]["phony"] = rng.random() < 0.7
        if rng.random() < (0.9 if case % 4 else 1) or (name not in rules and case % 5):
            times[name] = BASE + rng.randrange(3) + (20 - at) * (case % 2)
    check(f"case {case}", rules, times, [rng.choice(names) for _ in range(rng.randrange(1, 4))])
deep = {f"d{at}": {"needs": [f"d{at + 1}"], "run": f"make {at}"} for at in range(100_000)}
check("a deep chain", {**deep, "d100000": {"needs": []}}, {}, ["d0"])
check("a deep circle", {**deep, "d100000": {"needs": ["d99998"]}}, {}, ["d0"])
wide = {f"w{at}": {"needs": [f"w{each}" for each in range(at + 1, min(at + 20, 200))], "run": f"w {at}"} for at in range(200)}
check("many ways to a target", wide, {}, ["w0", "w0"])
