"""System calls that Python's `os` does not have."""

import ctypes
import os

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REC, MS_PRIVATE = 1, 2, 4, 8, 0x4000, 1 << 18

_PR_SET_DUMPABLE = 4
_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def unshare(flags):
    _check(_libc.unshare(flags))


def setns(fd, flags):
    _check(_libc.setns(fd, flags))


def mount_tmpfs(path, flags, options):
    _check(_libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options.encode()))


def remount_read_only(path):
    _check(_libc.mount(None, path.encode(), None, 32 | MS_RDONLY, None))


def make_mounts_private():
    _check(_libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


def die_with_parent(signal):
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0))


def forbid_inspection():
    """No process of the same user may look into this one."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def drop_capabilities():
    """All of them, for good, and those that a program file could bring."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()))
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def filter_system_calls(instructions):
    """`instructions`: of classic BPF, 8 bytes each (struct sock_filter)."""
    program = _Program(len(instructions) // 8, instructions)
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0))
