"""Runs check.py of a task, and writes the reward: 1 or 0. Each task has the same copy of this file.

Programs of the agent run below this process with a filter of system calls: they cannot send signals, so they cannot end
this process, and their descendants end before the reward is written. Expected values are in the memory of this process
only, and the tests are removed before such a program starts. An error of the machine leaves no reward.
"""

import ctypes
import errno
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import traceback

REWARD = "/logs/verifier/reward.txt"
# Errors of a file that is missing, of another kind, or closed.
UNREADABLE = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EACCES,
    errno.EPERM,
    errno.EEXIST,
    errno.EINVAL,
    errno.ELOOP,
    errno.ENOTEMPTY,
    errno.ENAMETOOLONG,
}
LIBC = ctypes.CDLL(None, use_errno=True)
SET_DUMPABLE, SET_SECCOMP, SET_SUBREAPER, NO_NEW_PRIVILEGES = 4, 22, 36, 38
# Audit number of the architecture, calls that send signals or enter processes, then prlimit64, fcntl and ioctl.
CALLS = {
    "x86_64": (0xC000003E, (62, 200, 234, 129, 297, 424, 101, 311), (302, 72, 16)),
    "aarch64": (0xC00000B7, (129, 130, 131, 138, 240, 424, 117, 271), (261, 25, 29)),
}


class Wrong(Exception):
    """The work of the agent is wrong: the reward is 0."""


def expect(condition, reason):
    if not condition:
        raise Wrong(reason)


def seccomp_filter():
    """Returns a BPF program: EPERM for calls that send a signal, also as the owner of a file, and limits of others."""
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    allow, refuse = (answer, 0, 0, 0x7FFF0000), (answer, 0, 0, 0x00050001)
    audit, calls, (limit, control, device) = CALLS[os.uname().machine]
    code = [(load, 0, 0, 4), (equal, 1, 0, audit), refuse, (load, 0, 0, 0), (at_least, 0, 1, 0x40000000), refuse]
    for call in calls:
        code += [(equal, 0, 1, call), refuse]
    code += [(equal, 0, 4, limit), (load, 0, 0, 16), (equal, 1, 0, 0), refuse, allow]
    for call, commands in ((control, (8, 10, 15)), (device, (0x8901, 0x8902))):
        tests = [part for command in commands for part in ((equal, 0, 1, command), refuse)]
        code += [(equal, 0, len(tests) + 2, call), (load, 0, 0, 24), *tests, allow]
    return b"".join(struct.pack("HBBI", *each) for each in [*code, allow])


FILTER = ctypes.create_string_buffer(seccomp_filter())
PROGRAM = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", (len(FILTER) - 1) // 8, ctypes.addressof(FILTER)))


def confine():
    """Confines a child before its program starts."""
    import resource

    for kind, limit in ((resource.RLIMIT_AS, 2**30), (resource.RLIMIT_FSIZE, 2**24), (resource.RLIMIT_CORE, 0)):
        resource.setrlimit(kind, (limit, limit))
    LIBC.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if LIBC.prctl(SET_SECCOMP, 2, PROGRAM, 0, 0) != 0:
        os._exit(126)


def start(argv, cwd="/app", **streams):
    """Starts a program of the agent with an environment of its own."""
    env = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams}
    try:
        return subprocess.Popen(argv, cwd=cwd, env=env, start_new_session=True, preexec_fn=confine, **streams)
    except (OSError, subprocess.SubprocessError) as error:
        raise Wrong(f"{argv[0]} cannot be started: {error}") from error


def run(argv, stdin="", cwd="/app", seconds=60):
    """Returns exit code (None at the time limit), stdout and stderr of the agent's program. Descendants end with it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        child = start(argv, cwd, stdin=given, stdout=out, stderr=err)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        end_all()
        out.seek(0)
        err.seek(0)
        return code, out.read().decode(errors="replace"), err.read().decode(errors="replace")


def output(argv, **options):
    """Returns stdout of a program that must succeed."""
    code, out, err = run(argv, **options)
    expect(code == 0, f"{argv} ended with {code}: {err[-500:]}")
    return out


def end_all():
    """Ends all descendants: orphans become children of this process."""
    while True:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as children:
                for pid in children.read().split():
                    os.kill(int(pid), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def read(path):
    """Returns the text of a regular file of at most 4 MB."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        raise Wrong(f"{path} cannot be read: {error}") from error
    with open(file, "rb") as opened:
        expect(stat.S_ISREG(os.fstat(file).st_mode), f"{path} is not a regular file")
        return opened.read(2**22).decode(errors="replace")


def tree(root):
    """Returns what is below a folder by path: the bytes of a file, a link's target after "->", None for a folder."""
    found = {}
    for folder, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            relative = os.path.relpath(path, root)
            if stat.S_ISLNK(mode):
                found[relative] = f"-> {os.readlink(path)}"
            elif stat.S_ISDIR(mode):
                found[relative] = None
            else:
                found[relative] = read(path).encode() if mode & 0o400 else b"?"
    return found


def fresh(entries):
    """Makes a new folder with entries as `tree` returns them, and returns its path."""
    root = tempfile.mkdtemp()
    for name, content in entries.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if content is None:
            os.makedirs(path, exist_ok=True)
        elif isinstance(content, str) and content.startswith("-> "):
            os.symlink(content[3:], path)
        else:
            with open(path, "wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
    return root


def git(repository, *args):
    """Returns the output of git in a new clone of a repository, in which no setting of the agent holds."""
    copy = os.path.join(tempfile.mkdtemp(), "copy")
    output(["/usr/bin/git", "clone", "--quiet", "--no-local", "--mirror", repository, copy])
    return output(["/usr/bin/git", "--no-replace-objects", "-C", copy, *args])


def write_reward(reward):
    """Replaces the reward, and what programs of the agent may have written in its place."""
    folder = os.path.dirname(REWARD)
    if os.path.islink(folder) or not os.path.isdir(folder):
        os.path.lexists(folder) and os.rename(folder, f"{folder}-{os.urandom(8).hex()}")
        os.makedirs(folder)
    os.chmod(folder, 0o755)
    for path in (REWARD, f"{folder}/reward.json"):
        os.path.lexists(path) and os.rename(path, f"{path}-{os.urandom(8).hex()}")
    if reward is not None:
        with open(REWARD, "x") as file:
            file.write(f"{reward}\n")


def main():
    LIBC.prctl(SET_DUMPABLE, 0, 0, 0, 0)
    LIBC.prctl(SET_SUBREAPER, 1, 0, 0, 0)
    write_reward(0)
    with open("/tests/check.py") as file:
        source = file.read()
    shutil.rmtree("/tests", ignore_errors=True)
    reward = None
    try:
        exec(compile(source, "check.py", "exec"), dict(globals()))
        reward = 1
    except Wrong as wrong:
        print(wrong)
        reward = 0
    except Exception as error:
        traceback.print_exc()
        # A file or a text of the agent that cannot be read is wrong; an error of the machine leaves no reward.
        is_machine = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno not in UNREADABLE)
        reward = None if is_machine else 0
    end_all()
    write_reward(reward)
    sys.exit(reward is None)


main()
