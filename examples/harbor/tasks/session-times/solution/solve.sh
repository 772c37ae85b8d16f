#!/bin/bash
cat > /app/sessions.py <<'END'
import sys
from datetime import datetime

with open(sys.argv[1]) as log:
    rows = [line.split() for line in log if line.strip()]
rows = [(datetime.fromisoformat(when).timestamp(), *rest) for when, *rest in rows]
opened, spans = {}, {}
for when, user, event, name in sorted(rows, key=lambda row: row[0]):
    key = (user, name)
    if event == "login":
        opened.setdefault(key, [when, when])
        spans.setdefault(user, [])
    elif key in opened:
        opened[key][1] = when
        if event == "logout":
            spans[user].append(opened.pop(key))
for (user, _), span in opened.items():
    spans[user].append(span)
for user in sorted(spans):
    total, end = 0, float("-inf")
    for first, last in sorted(spans[user]):
        if last > end:
            total += last - max(first, end)
            end = last
    print(user, round(total))
END
