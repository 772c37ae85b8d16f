LINES = """2026-02-28T23:58:30 ann login a1
2026-02-28T23:59:00 bob login b1
2026-03-01T00:00:10 ann logout a1
2026-03-01T00:01:00 bob login b2
2026-03-01T00:02:30 bob logout b1
"""
with open("/app/sessions.log", "w") as log:
    log.write(LINES)
