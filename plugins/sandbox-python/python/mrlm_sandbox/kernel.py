"""System calls that Python's `os` does not have."""

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    _Filter = ctypes._Pointer["_Program"]

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    0x20,
    0x1000,
    0x4000,
    1 << 18,
)
# Flags of a mount that `statvfs` returns. A process that did not set them may not remove them.
_KEPT_FLAGS = MS_NOSUID | MS_NODEV | MS_NOEXEC

_PR_SET_DUMPABLE = 4
_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER = 22, 2
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAPBSET_DROP = 24
_LINUX_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)
# The functions are looked up once, before any fork.
_capset, _mount, _prctl, _setns, _unshare = _libc.capset, _libc.mount, _libc.prctl, _libc.setns, _libc.unshare


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def unshare(flags: int) -> None:
    _check(_unshare(flags))


def setns(fd: int, flags: int) -> None:
    _check(_setns(fd, flags))


def mount_tmpfs(path: bytes, flags: int, options: bytes) -> None:
    _check(_mount(b"tmpfs", path, b"tmpfs", flags, options))


def make_mount_read_only(path: bytes) -> None:
    """Remounts read-only. A device there stays writable; its mode, owner and times cannot be changed."""
    flags = os.statvfs(path).f_flag & _KEPT_FLAGS
    _check(_mount(None, path, None, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, None))


def make_mounts_private() -> None:
    _check(_mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


def die_with_parent(signal: int) -> None:
    _check(_prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0))


def forbid_inspection() -> None:
    """Forbids other processes of the same user to read the memory of this one."""
    _check(_prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0))


def forbid_privileges() -> None:
    """Forbids this process and its children to gain privileges from program files."""
    for capability in range(64):
        _prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


_capability_header = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0)
_no_capabilities = (ctypes.c_uint32 * 6)()


def drop_capabilities() -> None:
    """Drops all capabilities; permanently after `forbid_privileges`."""
    _check(_capset(_capability_header, _no_capabilities))


def trim_heap() -> None:
    """Returns unused pages of the C library's heap to the kernel, with GNU's library; see malloc_trim(3)."""
    if hasattr(_libc, "malloc_trim"):
        _libc.malloc_trim(0)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def system_call_filter(instructions: bytes) -> "_Filter":
    """Makes a filter for `filter_system_calls` from instructions of classic BPF, 8 bytes each (struct sock_filter)."""
    return ctypes.pointer(_Program(len(instructions) // 8, instructions))


def filter_system_calls(program: "_Filter") -> None:
    _check(_prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0))
