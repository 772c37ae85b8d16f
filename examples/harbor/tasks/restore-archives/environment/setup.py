import io
import os
import tarfile

NIGHTS = {
    "2026-02-27": {"etc/app.conf": "port=80\n", "etc/users": "ann\n", "notes.txt": "first\n"},
    "2026-02-28": {"etc/app.conf": "port=8080\n", "var/a b.dat": "data 1\n"},
    "2026-03-01": {"etc/users": "ann\nbob\n", "var/a b.dat": "data 2\n", "var/.state": "7\n"},
    "2026-03-10": {"notes.txt": "last\n", "etc/app.conf": "port=443\n", "empty": ""},
}
os.makedirs("/app/backups")
for night, files in NIGHTS.items():
    path = f"/app/backups/night-{night}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"data/{name}")
            info.size, info.mode, info.mtime = len(text), 0o644, 1_700_000_000
            archive.addfile(info, io.BytesIO(text.encode()))
    # The times of the archives are in another order.
    os.utime(path, (1_700_000_000 - len(night + str(files)), 1_700_000_000 - len(night + str(files))))
