"""What a forked player puts between itself and everything else before it runs a submission."""

import os
import resource

from . import kernel

HOME = "/tmp/submission"
_OPEN_FILES = 256
_PROCESSES = 64
_PAGE = resource.getpagesize()


class Walls:
    """What a cage is made of: the size of /tmp, a filter of system calls (see kernel.filter_system_calls), folders that are to be empty."""

    def __init__(self, tmp_bytes, seccomp, hidden):
        self.tmp_bytes = tmp_bytes
        self.seccomp = seccomp
        self.hidden = [path for path in (*hidden, "/dev/shm", "/proc") if os.path.isdir(path)]


_PLAIN = kernel.MS_NOSUID | kernel.MS_NODEV


def build(walls):
    """What all players share, once, in the zygote: no /proc, no installed packages, mounts that tell nobody of theirs."""
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.make_mounts_private()
    for path in walls.hidden:
        kernel.mount_tmpfs(path, _PLAIN | kernel.MS_NOEXEC | kernel.MS_RDONLY, "size=4k,nr_inodes=2,mode=555")


def enter(walls):
    """Namespaces of its own (that for processes the zygote has made), an empty /tmp, no privileges, few system calls."""
    kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS)
    kernel.mount_tmpfs("/tmp", _PLAIN, f"size={walls.tmp_bytes},nr_inodes=10k,mode=700")
    os.mkdir(HOME, 0o700)
    os.chdir(HOME)
    kernel.drop_capabilities()
    if walls.seccomp:
        kernel.filter_system_calls(walls.seccomp)


def address_space():
    """Bytes of address space that this process has."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * _PAGE


def limit(memory_bytes, cpu_ms, file_bytes, base):
    """Limits that the kernel keeps by itself; `base` is the address space that is there already."""
    for name, value in (
        ("RLIMIT_AS", base + memory_bytes),
        ("RLIMIT_CPU", cpu_ms // 1000 + 2),
        ("RLIMIT_FSIZE", file_bytes),
        ("RLIMIT_NOFILE", _OPEN_FILES),
        ("RLIMIT_NPROC", _PROCESSES),
        ("RLIMIT_CORE", 0),
    ):
        resource.setrlimit(getattr(resource, name), (value, value))
