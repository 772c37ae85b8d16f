correct = {
    "etc": None, "var": None, "etc/app.conf": b"port=443\n", "etc/users": b"ann\nbob\n", "notes.txt": b"last\n", "var/a b.dat": b"data 2\n",
    "var/.state": b"7\n", "empty": b"",
}
expect(os.path.isdir("/app/restored"), "/app/restored is no folder")
got = tree("/app/restored")
expect(got == correct, f"/app/restored has {got}, not {correct}")
names = [f"night-{day}.tar.gz" for day in ("2026-02-27", "2026-02-28", "2026-03-01", "2026-03-10")]
expect(sorted(os.listdir("/app/backups")) == names, "the archives are not those of before")
