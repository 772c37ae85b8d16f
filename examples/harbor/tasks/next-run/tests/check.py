import random
from datetime import datetime, timedelta

LIMITS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))


def values(field, low, high):
    found = set()
    for part in field.split(","):
        body, _, step = part.partition("/")
        first, last = (low, high) if body == "*" else map(int, (body.split("-") * 2)[:2]) if "-" in body else (int(body), int(body))
        found |= set(range(first, last + 1, int(step or 1)))
    return found


def expected(expression, text):
    fields = expression.split()
    minutes, hours, days, months, weekdays = (values(field, *limits) for field, limits in zip(fields, LIMITS))
    weekdays = {day % 7 for day in weekdays}
    together = fields[2].startswith("*") or fields[4].startswith("*")
    begin = datetime.fromisoformat(text)
    day = begin.replace(hour=0, minute=0)
    for _ in range(8 * 366):
        fits = [day.day in days, day.isoweekday() % 7 in weekdays]
        if day.month in months and (all(fits) if together else any(fits)):
            runs = (day.replace(hour=hour, minute=minute) for hour in sorted(hours) for minute in sorted(minutes))
            later = next((run for run in runs if run > begin), None)
            if later is not None:
                return later.isoformat(timespec="minutes")
        day += timedelta(days=1)
    return "never"


cases = [
    ("*/15 8-17 * * 1-5", "2026-02-27T17:45"), ("0 0 30 2 *", "2026-01-01T00:00"), ("0 0 29 2 *", "2026-03-01T00:00"), ("* * * * *", "2026-12-31T23:59"),
    ("5 4 13 * 5", "2026-03-01T00:00"), ("0 12 */2 * 1", "2026-03-01T00:00"), ("0 12 1-31 * 1", "2026-03-03T00:00"), ("0 0 * * 7", "2026-03-01T00:00"),
    ("59 23 31 1,3-5/2,12 *", "2026-01-31T23:59"), ("0-30/7,58 5,6 * 2 0", "2027-02-28T05:28"), ("0 0 31 4,6,9,11 *", "2026-01-01T00:00"), ("0 0 29 2 1", "2026-03-01T00:00"),
    ("1-1 0 * * *", "2028-02-28T00:01"), ("10/1 0 * * *", None), ("0 0 29 2 */7", "2026-03-01T00:00"), ("0 0 1 1 0-7/7", "2026-01-01T00:00"),
]
for bad in ("* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *", "a * * * *", "1,,2 * * * *", "-1 * * * *", "1- * * * *", "* * * jan *", "", "1/ * * * *"):
    cases.append((bad, None))
rng = random.Random(99)
for _ in range(14):
    fields = [rng.choice(["*", f"{low + 1}", f"{low}-{high - 1}/{rng.choice([2, 3, 5])}", f"{low + 2},{high - 3}", f"*/{rng.choice([2, 7])}"]) for low, high in LIMITS]
    cases.append((" ".join(fields), (datetime(2026, 1, 1) + timedelta(minutes=rng.randrange(10**6))).isoformat(timespec="minutes")))
for expression, text in cases:
    code, out, err = run(["/usr/bin/python3", "/app/next.py", expression, text or "2026-03-01T10:00"], seconds=30)
    correct = (2, "") if text is None else (0, expected(expression, text) + "\n")
    expect((code, out) == correct, f"{expression!r} after {text}: exit code {code} and {out!r}, not {correct}: {err[-300:]}")
