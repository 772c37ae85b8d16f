#!/bin/bash
cat > /app/next.py <<'END'
import re
import sys
from datetime import datetime, timedelta

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def values(field, low, high):
    found = set()
    for part in field.split(","):
        match = re.fullmatch(r"(?:(\d+)(?:-(\d+))?|\*)(?:/(\d+))?", part, re.ASCII)
        if match is None:
            sys.exit(2)
        first, last, step = (None if group is None else int(group) for group in match.groups())
        if first is not None and last is None:
            if step is not None:
                sys.exit(2)
            last = first
        first, last, step = (low, high, step) if first is None else (first, last, step)
        if step == 0 or not low <= first <= last <= high:
            sys.exit(2)
        found.update(range(first, last + 1, step or 1))
    return found


fields = sys.argv[1].split()
if len(fields) != 5:
    sys.exit(2)
minutes, hours, days, months, weekdays = (values(field, *limits) for field, limits in zip(fields, LIMITS))
weekdays = {day % 7 for day in weekdays}
together = fields[2][0] == "*" or fields[4][0] == "*"
begin = datetime.fromisoformat(sys.argv[2])
day = begin.replace(hour=0, minute=0)
while day <= begin + timedelta(days=8 * 365 + 2):
    fits = (day.day in days, day.isoweekday() % 7 in weekdays)
    if day.month in months and (all(fits) if together else any(fits)):
        for hour in sorted(hours):
            for minute in sorted(minutes):
                run = day.replace(hour=hour, minute=minute)
                if run > begin:
                    print(run.isoformat(timespec="minutes"))
                    sys.exit(0)
    day += timedelta(days=1)
print("never")
END
