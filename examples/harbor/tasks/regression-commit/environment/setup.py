import os
import subprocess

os.makedirs("/app/text")
clock = 1_730_000_000


def commit(message, text, name="wrap.py"):
    global clock
    clock += 5000
    with open(f"/app/text/{name}", "w") as file:
        file.write(text)
    who = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": f"{clock} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    for args in (["add", "--all"], ["commit", "--quiet", "--message", message]):
        subprocess.run(["git", "-C", "/app/text", *args], check=True, env=env | {"PATH": os.environ["PATH"], "HOME": "/nonexistent"})


FIRST = '''"""Wraps text."""


def wrap(text: str, width: int) -> list[str]:
    """Returns lines of at most `width` characters. Words are separated by white space, and by one space in the lines; a longer word is cut at `width`."""
    lines, line = [], ""
    for word in text.split():
        while len(word) > width:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:width])
            word = word[width:]
        if not word:
            continue
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        lines.append(line)
    return lines
'''
GOOD = '''"""Wraps text."""


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Returns lines of at most `width` characters. Words are separated by white space, and by one space in the lines; a longer word is cut at the end of a line of its own.

    Each line but the first begins with `indent`, which counts to its width; `indent` is shorter than `width`. An empty text has no lines.
    """
    lines: list[str] = []
    line = ""

    def room() -> int:
        return width - (len(indent) if lines else 0)

    def end(text: str) -> None:
        lines.append((indent if lines else "") + text)

    for word in text.split():
        if line and len(line) + 1 + len(word) > room():
            end(line)
            line = ""
        while len(word) > room():
            size = room()
            end(word[:size])
            word = word[size:]
        if word:
            line = f"{line} {word}" if line else word
    if line:
        end(line)
    return lines
'''
BROKEN = GOOD.replace("len(line) + 1 + len(word) > room()", "len(line) + len(word) + 1 >= room()")
BULLETS = '''

def bullets(items: list[str], width: int, mark: str = "- ") -> list[str]:
    """Returns the lines of a list: each item begins with `mark`, its other lines with as many spaces."""
    return [line for item in items for line in wrap(mark + item, width, " " * len(mark))]
'''
CENTER = '''

def center(text: str, width: int) -> list[str]:
    """Returns lines with spaces before each, so that it stands in the middle: half of the free places, rounded down."""
    return [" " * ((width - len(line)) // 2) + line for line in wrap(text, width)]
'''
subprocess.run(["git", "init", "--quiet", "--initial-branch=main", "/app/text"], check=True)
subprocess.run(["git", "-C", "/app/text", "config", "user.name", "Dev"], check=True)
subprocess.run(["git", "-C", "/app/text", "config", "user.email", "dev@example.org"], check=True)
commit("Wrap text", FIRST)
commit("Indent lines", GOOD)
commit("Describe the module", "# text\n\nWraps text.\n", "README.md")
commit("Add lists", GOOD + BULLETS)
commit("Simplify the comparison", BROKEN + BULLETS)
commit("Add centered text", BROKEN + BULLETS + CENTER)
commit("Mention lists", "# text\n\nWraps text, and lists.\n", "README.md")
