import os
import subprocess

os.makedirs("/app/calendar/tests")
clock = 1_710_000_000


def commit(message, files):
    global clock
    clock += 7200
    for name, text in files.items():
        with open(f"/app/calendar/{name}", "w") as file:
            file.write(text)
    who = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": f"{clock} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    env |= {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    for args in (["add", "--all"], ["commit", "--quiet", "--message", message]):
        subprocess.run(["git", "-C", "/app/calendar", *args], check=True, env=env)


GOOD = '''"""Working days. A holiday is a date; Saturdays and Sundays are never working days."""
from datetime import date, timedelta


def is_working_day(day: date, holidays: frozenset[date] = frozenset()) -> bool:
    return day.weekday() < 5 and day not in holidays


def add_working_days(start: date, count: int, holidays: frozenset[date] = frozenset()) -> date:
    """Returns the day `count` working days after `start`, or before it if `count` is negative. With 0: `start`, or the next working day."""
    step = timedelta(days=-1 if count < 0 else 1)
    day = start
    while count == 0 and not is_working_day(day, holidays):
        day += step
    left = abs(count)
    while left > 0:
        day += step
        if is_working_day(day, holidays):
            left -= 1
    return day


def working_days_between(first: date, last: date, holidays: frozenset[date] = frozenset()) -> int:
    """Counts the working days from `first` to `last`, both included; 0 if `last` is before `first`."""
    days = (last - first).days + 1
    return sum(is_working_day(first + timedelta(days=at), holidays) for at in range(days))
'''
FAST = GOOD.replace(
    '''    days = (last - first).days + 1
    return sum(is_working_day(first + timedelta(days=at), holidays) for at in range(days))
''',
    '''    days = (last - first).days + 1
    weeks, rest = divmod(days, 7)
    count = weeks * 5 + sum(is_working_day(first + timedelta(days=at)) for at in range(rest))
    return count - sum(first <= day <= last for day in holidays)
''',
)
TEST = '''import unittest
from datetime import date

from workdays import add_working_days, working_days_between


class WorkDays(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add_working_days(date(2026, 2, 27), 1), date(2026, 3, 2))
        self.assertEqual(add_working_days(date(2026, 3, 2), -1), date(2026, 2, 27))

    def test_between(self):
        self.assertEqual(working_days_between(date(2026, 3, 2), date(2026, 3, 8)), 5)
        self.assertEqual(working_days_between(date(2026, 3, 2), date(2026, 3, 9), frozenset({date(2026, 3, 8)})), 6)


if __name__ == "__main__":
    unittest.main()
'''
subprocess.run(["git", "init", "--quiet", "--initial-branch=main", "/app/calendar"], check=True)
commit("Add working days", {"workdays.py": GOOD, "tests/test_workdays.py": TEST.replace("frozenset({date(2026, 3, 8)})", "frozenset()")})
commit("Count whole weeks at once: long ranges took seconds", {"workdays.py": FAST})
commit("Test a holiday at a weekend", {"tests/test_workdays.py": TEST})
