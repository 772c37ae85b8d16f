import os
import subprocess

os.makedirs("/app/project")
clock = 1_740_000_000


def git(*args, text=None):
    global clock
    clock += 60
    who = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": f"{clock} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    env |= {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    done = subprocess.run(["git", "-C", "/app/project", *args], check=True, env=env, input=text, text=True, stdout=subprocess.PIPE)
    return done.stdout.strip()


def commit(message, **files):
    for name, text in files.items():
        with open(f"/app/project/{name}", "w") as file:
            file.write(text)
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


git("init", "--quiet", "--initial-branch=main")
git("config", "user.name", "Dev")
git("config", "user.email", "dev@example.org")
commit("Begin", readme="project\n")
commit("Add the parser", parser="parse v1\n")
for name in ("search", "export", "import"):
    git("checkout", "--quiet", "-b", name, "main")
    commit(f"Begin {name}", **{name: f"{name} draft\n"})
    commit(f"Extend {name}", **{name: f"{name} second draft\n"})
    if name == "export":
        commit("Finish export", export="export done\n", parser="parse v1 with export\n")
        # An amended commit leaves its former version behind.
        git("commit", "--quiet", "--amend", "--message", "Finish the export")
    git("checkout", "--quiet", "main")
    git("branch", "--quiet", "-D", name)
commit("Extend the parser", parser="parse v2\n")
blob = git("hash-object", "-w", "--stdin", text="password list: none\n")
# Work in progress that was put aside and dropped.
with open("/app/project/parser", "w") as file:
    file.write("parse v3, not finished\n")
git("stash", "--quiet")
git("stash", "drop", "--quiet")
git("reflog", "expire", "--expire=now", "--all")
