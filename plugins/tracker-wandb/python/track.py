"""Logs to Weights & Biases what comes as JSON lines on stdin; started by @mrlm/tracker-wandb as a process of its own.

`track.py --check MODE` says whether it could, and logs nothing. Otherwise the first line is `{"init": {...}}`, then come `{"log": {...}}`, and at last
`{"finish": EXIT_CODE}`. Where stdin ends without it, whoever trained is gone: the run is finished as failed. stdout carries nothing but one line
`{"error": TEXT}` where something fails; W&B's own output goes to stderr.
"""

import json
import os
import signal
import sys

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def fail(text):
    print(json.dumps({"error": text}), file=answers, flush=True)
    sys.exit(1)


def told(error):
    return f"{type(error).__name__}: {error}"


def load():
    sys.path[:] = [
        folder for folder in sys.path if folder not in ("", os.getcwd())
    ]  # `wandb/` there holds runs, not the package.
    try:
        import wandb

        wandb.init  # An empty folder of that name imports as well.
    except (ImportError, AttributeError) as error:
        fail(f"{sys.executable} cannot import wandb ({told(error)})")
    return wandb


def check(mode):
    wandb = load()
    if (mode or os.environ.get("WANDB_MODE") or "online") == "online" and not wandb.login():
        fail("no API key is known")


def track(lines):
    wandb = load()
    run = None
    exit_code = 1
    for line in lines:
        message = json.loads(line)
        if "init" in message:
            run = wandb.init(**message["init"], settings=wandb.Settings(console="off", silent=True))
            # Steps of a resumed run come again, which W&B's own counter would drop.
            run.define_metric("*", step_metric="step")
        elif "log" in message:
            run.log(message["log"])
        else:
            exit_code = message["finish"]
    if run is not None:
        run.finish(exit_code=exit_code)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the trainer, which says when to finish.
    try:
        check(sys.argv[2]) if sys.argv[1:2] == ["--check"] else track(sys.stdin.buffer)
    except Exception as error:
        fail(told(error))
