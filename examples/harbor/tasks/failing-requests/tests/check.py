import random
import re

LINE = re.compile(r'\S+ - - \[[^\]]*\] "[A-Z]+ ([^ "]+) HTTP/1\.1" (\d{3}) (\d+|-)')
rng = random.Random(23)
paths = ["/", "/a", "/a?b=500", "/B", "/api/500", "/x?y?z", "/%20", "/a/"]
for case in range(4):
    lines = []
    for _ in range(200 * case + 5):
        status = rng.choice(["200", "404", "500", "503", "599", "600", "499", "5000", "50"])
        size = rng.choice(["12", "500", "-", "", "1x"])
        request = rng.choice(["GET {} HTTP/1.1", "POST {} HTTP/1.1", "get {} HTTP/1.1", "GET {} HTTP/1.0", "GET {}", "DELETE {} HTTP/1.1"]).format(rng.choice(paths))
        lines.append(f'{rng.choice(["10.0.0.1", "::1"])} - - [01/Mar/2026:10:00:00 +0000] "{request}" {status} {size}')
    lines += ["", 'free text "GET / HTTP/1.1" 500 1', '10.0.0.1 - - [t] "GET /q"q HTTP/1.1" 500 1']
    counts = {}
    for line in lines:
        match = LINE.fullmatch(line)
        if match:
            count = counts.setdefault(match[1].split("?")[0], [0, 0])
            count[0] += match[2][0] == "5"
            count[1] += 1
    rows = sorted((-failed, path, total) for path, (failed, total) in counts.items() if failed)
    correct = "".join(f"{-failed} {total} {path}\n" for failed, path, total in rows)
    root = fresh({"a log": "\n".join(lines) + "\n"})
    got = output(["/bin/bash", "/app/failing.sh", f"{root}/a log"])
    expect(got == correct, f"case {case}: printed {got!r}, not {correct!r}")
