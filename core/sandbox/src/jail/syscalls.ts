/** Numbers of system calls on x86-64 and 64-bit ARM; 0 if there is none. Source: the kernel's unistd tables, which are stable. */
type Numbers = readonly [x64: number, arm64: number];

/** Calls for administrators, debuggers and container runtimes, and calls with most kernel vulnerabilities: refused with EPERM. */
export const REFUSED: Readonly<Record<string, Numbers>> = {
  // Access to other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  // Large kernel interfaces.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  personality: [135, 92],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  modify_ldt: [154, 0],
  uselib: [134, 0],
  ustat: [136, 0],
  sysfs: [139, 0],
  // The same information as /proc, which is hidden.
  statmount: [457, 457],
  listmount: [458, 458],
  // Kernel memory that counts toward no process: megabytes for each call.
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  io_setup: [206, 0],
  // Files outside the mounts.
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  acct: [163, 89],
  // Administration of the machine.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  adjtimex: [159, 171],
  clock_adjtime: [305, 266],
  syslog: [103, 116],
  vhangup: [153, 58],
  iopl: [172, 0],
  ioperm: [173, 0],
};

/** Refused unless the program makes namespaces for the processes that it starts. */
export const NAMESPACES: Readonly<Record<string, Numbers>> = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  sethostname: [170, 161],
  setdomainname: [171, 162],
};

/** Refused with ENOSYS, as by an old kernel: programs then use the older call. */
export const UNKNOWN: Readonly<Record<string, Numbers>> = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Its flags are in memory, which a filter cannot read.
  clone3: [435, 435],
};

/** Makes a socket of the family that its first argument names. Open socket pairs stay usable. */
export const SOCKETS = { socket: [41, 198] } as const satisfies Readonly<Record<string, Numbers>>;

/** Sets an option of a socket, such as the size of its buffers. */
export const SOCKET_OPTION: Numbers = [54, 208];

/** Calls that make processes; refused unless the program forks. */
export const FORKS: Readonly<Record<string, Numbers>> = { fork: [57, 0], vfork: [58, 0] };

/** Makes a thread or a process, depending on its flags. */
export const CLONE: Numbers = [56, 220];

/** Calls that make memory which counts toward no process until it is mapped; only a control group could limit it. */
export const SHARED_MEMORY: Readonly<Record<string, Numbers>> = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  shmat: [30, 196],
};
