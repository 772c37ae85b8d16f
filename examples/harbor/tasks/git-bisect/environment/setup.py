import os
import random
import subprocess

rng = random.Random(77)
os.makedirs("/app/repo")
clock = 1_700_000_000


def commit(message):
    global clock
    clock += 3600
    who = {"NAME": "Dev", "EMAIL": "dev@example.org", "DATE": f"{clock} +0000"}
    env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    env |= {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for args in (["add", "--all"], ["commit", "--quiet", "--message", message]):
        subprocess.run(["git", "-C", "/app/repo", *args], check=True, env=env)


subprocess.run(["git", "init", "--quiet", "--initial-branch=main", "/app/repo"], check=True)
state = {"rounding": "round(value, 2)", "factor": "1.2", "fee": "0", "notes": []}
LIMIT = 61
WORDS = ["tax", "report", "layout", "names", "docs", "cache", "units", "colour"]
for at in range(LIMIT):
    message = f"Change the {rng.choice(WORDS)} of part {rng.randrange(90)}"
    state["notes"].append(f"# {at}: {rng.choice(WORDS)}")
    if at == 12:
        state["factor"] = "1.20"
    if at == 37:
        state["rounding"] = "round(value - 0.002, 2)"
    if at == 44:
        state["rounding"] = "round(value - 2e-3, 2)"
    if at == 50:
        state["fee"] = "0.0"
    with open("/app/repo/price.py", "w") as file:
        file.write("import sys\n\n" + "\n".join(state["notes"][-6:]) + f"\nvalue = float(sys.argv[1]) * {state['factor']} + {state['fee']}\n")
        file.write(f"print(format({state['rounding']}, '.2f'))\n" if at % 9 != 4 else f"print(format({state['rounding']}, '.2f')\n")
    commit(message)
    if at == 3:
        subprocess.run(["git", "-C", "/app/repo", "tag", "v1"], check=True)
