import random
from datetime import datetime, timedelta

rng = random.Random(17)
start = datetime(2023, 12, 31, 23, 0)


def expected(rows):
    opened, spans = {}, {}
    for when, user, event, name in sorted(rows, key=lambda row: row[0]):
        key = (user, name)
        if event == "login" and key not in opened:
            opened[key] = [when, when]
            spans.setdefault(user, [])
        elif event == "ping" and key in opened:
            opened[key][1] = when
        elif event == "logout" and key in opened:
            spans[user].append((opened.pop(key)[0], when))
    for (user, _), span in opened.items():
        spans[user].append(tuple(span))
    text = ""
    for user in sorted(spans):
        total, end = 0, datetime.min
        for first, last in sorted(spans[user]):
            total += max(timedelta(0), last - max(first, end)).total_seconds() if last > end else 0
            end = max(end, last)
        text += f"{user} {int(total)}\n"
    return text


for case in range(8):
    rows = []
    for _ in range(case * 40):
        when = start + timedelta(seconds=rng.randrange(20 if case == 1 else 90_000))
        rows.append((when, rng.choice(["ann", "bob", "Zoe", "x-1"]), rng.choice(["login", "login", "logout", "ping"]), rng.choice(["a", "b", "login"])))
    root = fresh({"log": "".join(f"{when.isoformat()} {user} {event} {name}\n" for when, user, event, name in rows)})
    got, correct = output(["/usr/bin/python3", "/app/sessions.py", f"{root}/log"]), expected(rows)
    expect(got == correct, f"case {case}: printed {got!r}, not {correct!r}")
