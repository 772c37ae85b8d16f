/** Returns a Python program that makes a system call, and prints THROUGH if the kernel permits it. Numbers are those of x86-64. */
function systemCall(number: number, args: string): string {
  return `python3 -c 'import ctypes; r = ctypes.CDLL(None, use_errno=True).syscall(${number}, ${args}); print("THROUGH" if r >= 0 else "refused")'`;
}

/** Returns a Python program that opens a socket, and prints THROUGH if it can. */
function socketOf(family: number, kind: number, then = ""): string {
  return `python3 -c 'import socket; s = socket.socket(${family}, ${kind}); ${then}; print("THROUGH")'`;
}

/** Programs that try to leave a workspace, by what they try. Each prints THROUGH where it succeeds. */
export const ESCAPES: Readonly<Record<string, string>> = {
  "a file of the host through process 1": "cat /proc/1/root/HOST/marker && echo THROUGH",
  "a file of the host by its path": "cat HOST/marker && echo THROUGH",
  "a file of the host through its own root": "cat /proc/self/root/HOST/marker && echo THROUGH",
  "passwords of the host": "grep ':[*!$]' /etc/shadow && echo THROUGH",
  "variables of the host": "tr '\\0' '\\n' < /proc/1/environ | grep HOST_SECRET && echo THROUGH",
  "memory of the machine": "head -c 1 /proc/kcore > /dev/null && echo THROUGH; head -c 1 /dev/mem && echo THROUGH",
  "a device of a disk": "ls /dev/sd* /dev/vd* /dev/nvme* && echo THROUGH; mknod d b 254 0 && echo THROUGH",
  "settings of the kernel":
    "echo x > /proc/sys/kernel/core_pattern && echo THROUGH; echo x > /proc/sys/vm/swappiness && echo THROUGH",
  "requests to the kernel": "echo h > /proc/sysrq-trigger && echo THROUGH",
  "programs of the host":
    "echo x > /usr/bin/mrlm-x && echo THROUGH; rm -f /usr/bin/env && echo removed; ls /usr/bin/env > /dev/null || echo THROUGH",
  "the root folder": "mkdir /new && echo THROUGH; mv /workspace /moved && echo THROUGH; rmdir /proc && echo THROUGH",
  settings: "echo x > /etc/passwd && echo THROUGH; rm /etc/passwd && echo THROUGH",
  "a mount":
    "mount -t tmpfs none /tmp && echo THROUGH; umount /proc && echo THROUGH; mount -o remount,rw /usr && echo THROUGH",
  "a user namespace":
    "unshare -Ur true && echo THROUGH; unshare -m true && echo THROUGH; bwrap --bind / / true && echo THROUGH",
  "the namespaces of process 1": "nsenter -t 1 -m true && echo THROUGH; nsenter -t 1 -U true && echo THROUGH",
  "another root": "chroot . /bin/sh -c true && echo THROUGH",
  "another user":
    "su daemon -c true && echo THROUGH; setpriv --reuid 1000 true && echo THROUGH; chown 1000 . && echo THROUGH",
  "rights by a file":
    "cp /bin/sh s; chmod 4755 s; ./s -p -c 'grep CapEff /proc/self/status' | grep -v 0000000000000000 && echo THROUGH",
  "rights that it has": "grep Cap /proc/self/status | grep -v 0000000000000000 && echo THROUGH",
  "process 1 by a signal": "kill -9 1; kill -9 -1; ls /proc/1 > /dev/null || echo THROUGH",
  "a process of the host": "ls /proc | grep -E '^[0-9]{4,}$' && echo THROUGH",
  "the name of the machine": "hostname mrlm-x && echo THROUGH",
  "the clock": "date -s 2001-01-01 && echo THROUGH",
  priority: "nice -n -20 sh -c 'test $(nice) -lt 0 && echo THROUGH'",
  "a larger limit":
    "ulimit -f unlimited && echo THROUGH; ulimit -Hn 100000 && echo THROUGH; ulimit -c unlimited && echo THROUGH",
  "shared memory beyond the disk": "head -c 40000000 /dev/zero > /dev/shm/x && echo THROUGH",
  "a file in /dev": "echo x > /dev/x && echo THROUGH",
  "a hard link to a program": "ln /usr/bin/env e && echo THROUGH",
  "the network": "cat /proc/net/dev | grep -vE 'lo:|Inter|face' && echo THROUGH",
  "an address of the network": socketOf(2, 1, 's.settimeout(3); s.connect(("1.1.1.1", 80))'),
  packets: socketOf(17, 3),
  "the virtual machine": socketOf(40, 1),
  "cryptography of the kernel": socketOf(38, 5),
  Bluetooth: socketOf(31, 3),
  "an abstract socket of the host": socketOf(1, 1, 's.connect("\\0HOST")'),
  ptrace: systemCall(101, "0, 0, 0, 0"),
  "memory of another process": systemCall(310, "1, 0, 0, 0, 0, 0"),
  bpf: systemCall(321, "0, 0, 0"),
  perf: systemCall(298, "0, 0, 0, -1, 0"),
  userfaultfd: systemCall(323, "0"),
  io_uring: systemCall(425, "4, 0"),
  keys: systemCall(250, "0, -3, 0"),
  memfd: systemCall(319, 'b"x", 0'),
  "System V memory": systemCall(29, "0, 4096, 0o1600"),
  "a message queue": systemCall(68, "0, 0o1600"),
  "a handle of a file": systemCall(303, '-100, b"/", 0, 0, 0'),
  fanotify: systemCall(300, "0, 0"),
  "a new mount": systemCall(430, 'b"tmpfs", 0'),
  "a tree of mounts": systemCall(428, '-100, b"/", 1'),
  "a namespace by clone": systemCall(56, "0x10000000 | 17, 0, 0, 0, 0"),
  personality: systemCall(135, "0x0040000"),
  "a new kernel": systemCall(246, "0, 0, 0, 0"),
  "a module of the kernel": systemCall(313, '0, b"", 0'),
  "a pivot of the root": systemCall(155, 'b"/tmp", b"/tmp"'),
  "a namespace by unshare": systemCall(272, "0x10000000"),
  "a namespace by clone3": systemCall(
    435,
    "ctypes.create_string_buffer((0x10000000).to_bytes(8, 'little') + bytes(80)), 88",
  ),
  "the namespace of a process": systemCall(308, "__import__('os').open('/proc/1/ns/net', 0), 0"),
  "a descriptor of another process": systemCall(438, "ctypes.CDLL(None).syscall(434, 1, 0), 0, 0"),
  "the ports of the machine": systemCall(172, "3"),
  "accounting of processes": systemCall(163, 'b"/tmp/acct"'),
  "swap space": systemCall(167, 'b"/tmp", 0'),
  "priority in real time": systemCall(144, "0, 1, ctypes.byref(ctypes.c_int(1))"),
  "priority of disks in real time": systemCall(251, "1, 0, 1 << 13"),
  "messages of the kernel": systemCall(103, "3, ctypes.create_string_buffer(99), 99"),
  "calls of 32 bits":
    'python3 -c \'import ctypes, mmap; m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex("b814000000cd80c3")); f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m))); print("THROUGH" if f() > 0 else "refused")\'',
  "calls of the x32 mode": systemCall(0x40000000 + 39, ""),
  "a folder by a descriptor":
    "for f in /proc/1/fd/* /proc/self/fd/* /proc/$PPID/fd/*; do test -d $f/ && ls $f/ | grep marker && echo THROUGH; done",
  "a file of the host by a descriptor":
    "cat /proc/[0-9]*/fd/*/marker /proc/[0-9]*/cwd/marker < /dev/null && echo THROUGH",
  "the map of users":
    "echo '0 0 4294967295' > /proc/self/uid_map && echo THROUGH; echo allow > /proc/self/setgroups && echo THROUGH",
  "protection from a full memory": "echo -1000 > /proc/self/oom_score_adj && echo THROUGH",
  "devices of the kernel":
    "for d in kmsg fuse net/tun loop-control kvm mapper/control vhost-vsock; do (: < /dev/$d) && echo THROUGH; done",
  "control groups": "ls /sys/fs/cgroup/* && echo THROUGH; mkdir /sys/fs/cgroup/x && echo THROUGH",
  "services of the host": "ls /run/* /var/run/* && echo THROUGH; ls /mrlm && echo THROUGH",
  "input of a terminal":
    'python3 -c \'import fcntl, os; fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x"); print("THROUGH")\'',
  "memory of process 1": 'python3 -c \'f = open("/proc/1/mem", "r+b"); print("THROUGH")\'',
  "a file that gives rights":
    "setcap cap_sys_admin+ep own && echo THROUGH; setfattr -n security.capability -v 0x01 own && echo THROUGH",
  "a file with another owner":
    "chown 65534:65534 own && echo THROUGH; chgrp 1 own && echo THROUGH; mknod n c 1 3 && echo THROUGH",
};

/** Programs that use as much as they can, with the limit that ends them; `undefined` for any or none. */
export const GREEDY: Readonly<Record<string, readonly [program: string, limit: string | undefined]>> = {
  "a fork bomb": ["f() { f | f & f; }; f", "processes"],
  "processes that leave their group": ["while :; do setsid sleep 600 & done", "processes"],
  "orphans of orphans": ["g() { (sleep 600 & g &) ; }; g; sleep 600", "processes"],
  "memory in one process": ['x=xxxxxxxxxxxxxxxx; while :; do x="$x$x"; done', "memory"],
  "memory in many processes": [
    "for i in 1 2 3 4 5 6 7 8 9 10; do head -c 12000000 /dev/zero | tail & done; wait; sleep 600",
    "memory",
  ],
  "processor time in one process": ["while :; do :; done", "cpu"],
  "processor time in short processes": ["while :; do /bin/true; done", "cpu"],
  "a large file": ["exec head -c 999000000 /dev/zero > f", "file-size"],
  "a full disk": ["for i in $(seq 30); do head -c 900000 /dev/zero > /tmp/$i; done", "disk"],
  "a full disk in many folders": [
    "for d in /root /var /tmp /dev/shm .; do for i in $(seq 9); do head -c 900000 /dev/zero > $d/$i; done; done",
    "disk",
  ],
  "a sparse file": ["truncate -s 100G f; exec truncate -s 100G g", undefined],
  "much output": ["yes | head -c 30000000; yes >&2 | head -c 30000000 >&2", undefined],
  daemons: [
    "(setsid nohup sleep 600 > /dev/null 2>&1 &); (setsid sh -c 'trap \"\" TERM HUP INT; sleep 600' &)",
    undefined,
  ],
  "its parent's death": ["kill -9 $PPID; sleep 600", "cpu-or-time"],
  "a stopped process": ["sleep 600 & kill -STOP $!; kill -STOP $$", "cpu-or-time"],
};
