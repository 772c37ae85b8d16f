#!/bin/bash
cd /app/calendar && python3 - <<'END'
text = open("workdays.py").read()
text = text.replace("is_working_day(first + timedelta(days=at)) for at", "(first + timedelta(days=at)).weekday() < 5 for at")
text = text.replace("    weeks, rest", "    if days <= 0:\n        return 0\n    weeks, rest")
text = text.replace("sum(first <= day <= last for day in holidays)", "sum(first <= day <= last and day.weekday() < 5 for day in holidays)")
open("workdays.py", "w").write(text)
END
