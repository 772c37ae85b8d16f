FILES = {
    "bin/start": "#!/bin/sh\necho start\n", "bin/data.txt": "data\n", "bin/tool": "#!/usr/bin/env python3\n", "docs/a.md": "a\n",
    "docs/old drafts/b c.md": "b\n", "docs/old drafts/run me": "#!/bin/bash\n", ".cache/x": "x\n", "index.html": "<p>\n", "docs/late.md": "text\n#!/bin/sh\n",
}
correct = {name: text.encode() for name, text in FILES.items()}
correct |= {"bin": None, "docs": None, "docs/old drafts": None, ".cache": None, "current": "-> docs/a.md", "outside": "-> /app/outside.txt"}
expect(not os.path.islink("/app/site"), "/app/site is a link")
expect(tree("/app/site") == correct, "the files are not those of before")
for name, content in {"": None, **correct}.items():
    path = f"/app/site/{name}"
    if isinstance(content, str):
        continue
    mode = 0o640 if content is not None and not content.startswith(b"#!") else 0o750
    found = stat.S_IMODE(os.lstat(path).st_mode)
    expect(found == mode, f"{path} has {found:o}, not {mode:o}")
expect(read("/app/outside.txt") == "outside\n", "the file outside was changed")
expect(stat.S_IMODE(os.lstat("/app/outside.txt").st_mode) == 0o604, "the file outside has other permissions")
