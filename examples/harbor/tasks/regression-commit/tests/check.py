import json
import random

OLD, BROKEN = "cc8748e7a3ea57c62f3fd74410a6a83997269662", "77659739179ad250c29630f9f52bd31316d3a5af"
DRIVER = """
import json, sys
import wrap
print(json.dumps([getattr(wrap, name)(*args) for name, *args in json.load(sys.stdin)]))
"""


def wrap(text, width, indent=""):
    lines, line = [], ""
    for word in text.split():
        room = width - (len(indent) if lines else 0)
        if line and len(line) + 1 + len(word) > room:
            lines.append((indent if lines else "") + line)
            line = ""
        while len(word) > width - (len(indent) if lines else 0):
            size = width - (len(indent) if lines else 0)
            lines.append((indent if lines else "") + word[:size])
            word = word[size:]
        line = f"{line} {word}".strip() if word else line
    return lines + [(indent if lines else "") + line] * bool(line)


rng = random.Random(53)
calls, correct = [], []
for _ in range(300):
    texts = ["".join(rng.choice(["a", "bb", " ", "  ", "\n", "ccccc"]) for _ in range(rng.randrange(24))) for _ in range(3)]
    width, indent = rng.randrange(4, 16), rng.choice(["", " ", "> "])
    calls += [["wrap", texts[0], width, indent], ["bullets", texts, width], ["bullets", texts, width + 2, "* "], ["center", texts[1], width]]
    correct.append(wrap(texts[0], width, indent))
    correct.append([line for text in texts for line in wrap("- " + text, width, "  ")])
    correct.append([line for text in texts for line in wrap("* " + text, width + 2, "  ")])
    correct.append([" " * ((width - len(line)) // 2) + line for line in wrap(texts[1], width)])

repository = "/app/text"
expect(git(repository, "rev-list", "--parents", "-n", "1", "refs/heads/main").split()[1:] == [OLD], "the parent of the newest commit is not the former one")
message = git(repository, "log", "-1", "--format=%B", "refs/heads/main").strip()
expect(message == f"Repair wrap\n\nFixes: {BROKEN}", f"the message is {message!r}")
expect(git(repository, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"], "there are other branches or tags")
expect(read(f"{repository}/.git/HEAD").strip() == "ref: refs/heads/main", "main is not checked out")
expect(git(repository, "ls-tree", "-r", "--name-only", "refs/heads/main").split() == ["README.md", "wrap.py"], "there are other files")
expect(git(repository, "diff", "--name-only", OLD, "refs/heads/main").split() == ["wrap.py"], "other files were changed")
files = {name: git(repository, "show", f"refs/heads/main:{name}") for name in ("README.md", "wrap.py")}
expect(set(os.listdir(repository)) - {"__pycache__", ".git"} == set(files), "the working tree has other files")
expect(all(read(f"{repository}/{name}") == text for name, text in files.items()), "the working tree is not clean")
out = output(["/usr/bin/python3", "-B", "-c", DRIVER], cwd=fresh(files), stdin=json.dumps(calls))
try:
    got = json.loads(out)
except ValueError as error:
    raise Wrong(f"the module printed {out[:200]!r}") from error
expect(isinstance(got, list) and len(got) == len(correct), "the module printed other answers")
for call, answer, right in zip(calls, got, correct):
    expect(answer == right, f"{call} returned {answer}, not {right}")
