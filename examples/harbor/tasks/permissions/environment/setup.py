import os

os.makedirs("/app/site/bin")
os.makedirs("/app/site/docs/old drafts")
os.makedirs("/app/site/.cache")
FILES = {
    "bin/start": "#!/bin/sh\necho start\n", "bin/data.txt": "data\n", "bin/tool": "#!/usr/bin/env python3\n", "docs/a.md": "a\n",
    "docs/old drafts/b c.md": "b\n", "docs/old drafts/run me": "#!/bin/bash\n", ".cache/x": "x\n", "index.html": "<p>\n", "docs/late.md": "text\n#!/bin/sh\n",
}
for at, (name, text) in enumerate(FILES.items()):
    with open(f"/app/site/{name}", "w") as file:
        file.write(text)
    os.chmod(f"/app/site/{name}", [0o777, 0o600, 0o644, 0o666, 0o444][at % 5])
os.symlink("docs/a.md", "/app/site/current")
os.symlink("/app/outside.txt", "/app/site/outside")
with open("/app/outside.txt", "w") as file:
    file.write("outside\n")
os.chmod("/app/outside.txt", 0o604)
os.chmod("/app/site/docs", 0o777)
os.chmod("/app/site/.cache", 0o700)
