import json
import random
from datetime import date, timedelta

DRIVER = """
import json, sys
from datetime import date
sys.path.insert(0, "/app/calendar")
import workdays
answers = []
for name, *args in json.load(sys.stdin):
    args = [frozenset(map(date.fromisoformat, a)) if isinstance(a, list) else a if isinstance(a, int) else date.fromisoformat(a) for a in args]
    answer = getattr(workdays, name)(*args)
    answers.append(answer if isinstance(answer, int) else answer.isoformat())
print(json.dumps(answers))
"""


def works(day, holidays):
    return day.weekday() < 5 and day not in holidays


rng = random.Random(31)
calls, correct = [], []
for case in range(120):
    first = date(2020, 1, 1) + timedelta(days=rng.randrange(2000))
    holidays = {first + timedelta(days=rng.randrange(-20, 60)) for _ in range(rng.choice([0, 1, 4, 12]))}
    texts = [day.isoformat() for day in holidays]
    last = first + timedelta(days=rng.choice([-30, -1, 0, 1, 6, 7, 8, 20, 45, 400]))
    calls.append(["working_days_between", first.isoformat(), last.isoformat(), texts])
    correct.append(sum(works(first + timedelta(days=at), holidays) for at in range((last - first).days + 1)))
    count, day = rng.choice([-7, -1, 0, 1, 3, 11]), first
    while count == 0 and not works(day, holidays):
        day += timedelta(days=1)
    left = abs(count)
    while left:
        day += timedelta(days=1 if count > 0 else -1)
        left -= works(day, holidays)
    calls.append(["add_working_days", first.isoformat(), count, texts])
    correct.append(day.isoformat())
# Day 1 is a Monday.
weeks, rest = divmod(date.max.toordinal(), 7)
calls += [["working_days_between", "0001-01-01", "9999-12-31", []]] * 50
correct += [weeks * 5 + min(rest, 5)] * 50
out = output(["/usr/bin/python3", "-B", "-c", DRIVER], stdin=json.dumps(calls), seconds=15)
try:
    got = json.loads(out)
except ValueError as error:
    raise Wrong(f"the module printed {out[:200]!r}") from error
expect(isinstance(got, list) and len(got) == len(correct), "the module printed other answers")
for call, answer, right in zip(calls, got, correct):
    expect(answer == right and not isinstance(answer, bool), f"{call} returned {answer}, not {right}")
original = git("/app/calendar", "show", "main:tests/test_workdays.py")
expect(read("/app/calendar/tests/test_workdays.py") == original and "date(2026, 3, 8)}" in original, "the tests were changed")
