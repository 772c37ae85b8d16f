import re

NAMES = [
    "IMG_20240131_0007.jpg", "IMG_20240131_0008.jpg", "IMG_19990101_0007.jpg", "img_20240131_0001.jpg", "IMG_20240131_0001.JPG", "IMG_20240131_00011.jpg",
    "xIMG_20240131_0001.jpg", "IMG_20240131_0002.jpg~", "IMG_2024 131_0001.jpg", "IMG_99999999_0000.jpg", "IMG_20240131_0009xjpg",
]


def check(taken):
    root = fresh({"my inbox/IMG_20240131_7777.jpg": None, "my inbox/IMG_20240131_8888.jpg": "-> notes", "my inbox/sub/IMG_20240131_0001.jpg": b"deep"})
    inbox = {name: name.encode() for name in NAMES}
    for name, content in inbox.items():
        with open(f"{root}/my inbox/{name}", "wb") as file:
            file.write(content)
    album = {}
    for name in taken:
        os.makedirs(f"{root}/the album/{os.path.dirname(name)}", exist_ok=True)
        with open(f"{root}/the album/{name}", "w") as file:
            file.write("before")
        album[name] = b"before"
    left = {"IMG_20240131_7777.jpg": None, "IMG_20240131_8888.jpg": "-> notes", "sub": None, "sub/IMG_20240131_0001.jpg": b"deep"}
    moved = kept = 0
    for name, content in inbox.items():
        match = re.fullmatch(r"IMG_(\d{4})(\d\d)(\d\d)_(\d{4})\.jpg", name)
        target = match and "{}/{}/{}/{}.jpg".format(*match.groups())
        if target and target not in album:
            album[target] = content
            moved += 1
        else:
            left[name] = content
            kept += bool(target)
    code, out, err = run(["/bin/bash", "/app/sort.sh", f"{root}/my inbox", f"{root}/the album"])
    expect((code, out) == (int(kept > 0), f"{moved}\n"), f"exit code {code} and {out!r}, not {int(kept > 0)} and {moved}: {err[-300:]}")
    files = {name: content for name, content in tree(f"{root}/the album").items() if content is not None}
    expect(files == album, f"the album has {files}, not {album}")
    expect(tree(f"{root}/my inbox") == left, f"the inbox has {tree(f'{root}/my inbox')}, not {left}")


check([])
check(["2024/01/31/0008.jpg", "notes.txt"])
empty = fresh({"in": None})
expect(run(["/bin/bash", "/app/sort.sh", f"{empty}/in", f"{empty}/out"])[:2] == (0, "0\n"), "an empty inbox is not 0 photos")
