"""Runs one command beside an actor of Ray, and ends it with all that it started when the actor has ended.

Arguments: number of the file descriptor for the status; mark that every process of the command has in its environment
variable MRLM_LAUNCHER; the command.
stdin: `stop MILLISECONDS` ends the command by SIGTERM and after that time by SIGKILL; the end of stdin does so after
5 s: the actor has ended, by `ray.kill` too. The status is `pid N` or `failed TEXT`, then `exit CODE` or `signal NAME`.
The driver sends the text of this file to the actors, so that the machines need no copy. Standard library only.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

ORPHAN_MS = 5_000
PR_SET_PDEATHSIG = 1


def report(text: str) -> None:
    # The actor may have ended.
    with contextlib.suppress(OSError):
        os.write(int(sys.argv[1]), f"{text}\n".encode())


def die_with_guard() -> None:
    """Runs in the child: SIGKILL when the guard ends without a chance to act."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def send(target: int, number: int) -> bool:
    try:
        if target < 0:
            os.killpg(-target, number)
        else:
            os.kill(target, number)
        return True
    except OSError:
        return False


def marked(mark: str) -> list[int]:
    """Lists the processes with the mark, which may have left the group; none where the system has no /proc."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if not name.isdigit() or int(name) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if f"MRLM_LAUNCHER={mark}".encode() in file.read().split(b"\0"):
                found.append(int(name))
    return found


def main(mark: str, command: list[str]) -> None:
    env = {**os.environ, "MRLM_LAUNCHER": mark}
    try:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=die_with_guard, env=env
        )
    except OSError as error:
        report(f"failed {command[0]}: {error.strerror}")
        return
    report(f"pid {child.pid}")
    ended = threading.Event()

    def end(grace_ms: int) -> None:
        send(-child.pid, signal.SIGTERM)
        ended.wait(grace_ms / 1000)
        send(-child.pid, signal.SIGKILL)

    def read_orders() -> None:
        for line in sys.stdin:
            end(int(line.split()[1]))
        end(ORPHAN_MS)

    threading.Thread(target=read_orders, daemon=True).start()
    code = child.wait()
    ended.set()
    send(-child.pid, signal.SIGKILL)
    for _ in range(20):
        if not [pid for pid in marked(mark) if send(pid, signal.SIGKILL)]:
            break
        time.sleep(0.05)
    report(f"exit {code}" if code >= 0 else f"signal {signal.Signals(-code).name}")


# Ray kills the children of an actor with it: the guard must not be one of them.
if os.fork() > 0:
    os._exit(0)
os.setsid()
main(sys.argv[2], sys.argv[3:])
