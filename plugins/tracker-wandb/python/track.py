"""Logs JSON lines from stdin to Weights & Biases. @mrlm/tracker-wandb starts it as a process.

`track.py --check MODE` checks whether logging is possible and logs nothing. Otherwise the first line is
`{"init": {...}}`, then come `{"log": {...}}`, and the last line is `{"finish": EXIT_CODE}`. If stdin ends without it,
the training process has ended, and the run is finished as failed. stdout carries one line `{"error": TEXT}` if
something fails; W&B's own output goes to stderr.
"""

import json
import os
import signal
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NoReturn

answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


def fail(text: str) -> NoReturn:
    print(json.dumps({"error": text}), file=answers, flush=True)
    sys.exit(1)


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def load() -> ModuleType:
    sys.path[:] = [
        folder for folder in sys.path if folder not in ("", os.getcwd())
    ]  # `wandb/` there holds runs, not the package.
    try:
        import wandb

        getattr(wandb, "init")  # noqa: B009 - raises for an empty folder of that name, which imports as well
    except (ImportError, AttributeError) as error:
        fail(f"{sys.executable} cannot import wandb ({describe(error)})")
    module: ModuleType = wandb
    return module


def check(mode: str) -> None:
    wandb = load()
    if (mode or os.environ.get("WANDB_MODE") or "online") == "online" and not wandb.login():
        fail("no API key is known")


def track(lines: Iterable[bytes]) -> None:
    wandb = load()
    run: Any = None
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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The trainer handles Ctrl-C and sends `finish`.
    try:
        check(sys.argv[2]) if sys.argv[1:2] == ["--check"] else track(sys.stdin.buffer)
    except Exception as error:
        fail(describe(error))
