import type { ImportedFunction } from "./emscripten.ts";

/** Thrown when the program ends itself: by `os._exit`, or by C code that calls `exit`. */
export class ProgramExit {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

/** Thrown when the program breaks its interpreter, or calls a closed JavaScript function. */
export class ProgramBroken {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Functions that Python needs and that change only its memory and the in-memory file system. All others are closed. */
const OPEN = new Set(
  [
    "environ_sizes_get environ_get fd_close fd_read fd_write clock_res_get clock_time_get fd_sync random_get fd_fdstat_get fd_seek fd_pread fd_pwrite",
    "__syscall_fcntl64 __syscall_openat __syscall_faccessat __syscall_chdir __syscall_chmod __syscall_fchownat __syscall_dup __syscall_dup3",
    "__syscall_fchdir __syscall_fchmod __syscall_fchmodat2 __syscall_fchown32 __syscall_fdatasync __syscall_fstat64 __syscall_stat64",
    "__syscall_newfstatat __syscall_lstat64 __syscall_ftruncate64 __syscall_getcwd __syscall_getdents64 __syscall_mkdirat __syscall_poll",
    "__syscall_fadvise64 __syscall_fallocate __syscall_readlinkat __syscall_unlinkat __syscall_rmdir __syscall_renameat __syscall_statfs64",
    "__syscall_fstatfs64 __syscall_symlinkat __syscall_truncate64 __syscall_utimensat __syscall_ioctl _mmap_js _munmap_js _msync_js",
    "emscripten_date_now emscripten_get_now _timegm_js _mktime_js _localtime_js _gmtime_js _tzset_js __call_sighandler emscripten_get_heap_max",
    "_emscripten_get_progname _Py_CheckEmscriptenSignals_Helper _PyEM_TrampolineCall_JS",
  ].flatMap((names) => names.split(" ")),
);

const EPERM = 63;
const EBADF = 8;
const EAFNOSUPPORT = 5;
const ENOSYS = 52;
const EAI_FAIL = -4;

/** Answers to system calls that would reach the machine, leave data for later submissions, or block without end. */
const REFUSED: Readonly<Record<string, (first?: number) => unknown>> = {
  __syscall_getuid32_js: () => 0,
  // Emscripten's own function sets the mask of the whole process.
  __syscall_umask_js: () => 0o022,
  __syscall_mknodat: () => -EPERM,
  __syscall_pipe: () => -ENOSYS,
  __syscall_socket: () => -EAFNOSUPPORT,
  getaddrinfo: () => EAI_FAIL,
  getnameinfo: () => EAI_FAIL,
  getprotobyname: () => 0,
  _emscripten_lookup_name: () => 0,
  _emscripten_system: () => -1,
  _setitimer_js: () => -1,
  _dlopen_js: () => 0,
  _dlsym_js: () => 0,
  _try_fcntl64: () => 0,
  _try_shutdown: () => 0,
  _maybe_poll_async: () => null,
  emscripten_runtime_keepalive_push: () => undefined,
  emscripten_runtime_keepalive_pop: () => undefined,
  _emscripten_runtime_keepalive_clear: () => undefined,
  emscripten_log_impl_js: () => undefined,
  _emscripten_log_formatted: () => undefined,
  exit: (code) => {
    throw new ProgramExit(code ?? 0);
  },
  proc_exit: (code) => {
    throw new ProgramExit(code ?? 0);
  },
  _abort_js: () => {
    throw new ProgramBroken("abort() was called");
  },
};
for (const call of "accept4 bind connect getpeername getsockname getsockopt listen recvfrom recvmsg sendmsg sendto".split(
  " ",
)) {
  (REFUSED as Record<string, () => unknown>)[`__syscall_${call}`] = () => -EBADF;
}

/** State of the seal: closed while the submission runs in the interpreter. */
export interface Seal {
  isClosed: boolean;
}

/**
 * Replaces, in place, the functions that WebAssembly code imports from JavaScript. While the seal is closed, Python can call only the functions of
 * OPEN. A function that is not in the table of imports cannot be called from inside, even if the program changes its interpreter's memory.
 */
export function sealImports(
  imports: Record<string, ImportedFunction>,
  seal: Seal,
  own: Readonly<Record<string, (first?: number) => unknown>>,
): void {
  for (const [name, original] of Object.entries(imports)) {
    if (typeof original !== "function" || OPEN.has(name)) continue;
    const refused = own[name] ?? REFUSED[name] ?? closed(name);
    const wrapped = (...args: number[]): unknown => (seal.isClosed ? refused(args[0]) : original(...args));
    // Emscripten reads signatures and other properties of the functions.
    imports[name] = Object.assign(wrapped, original);
  }
}

function closed(name: string): () => never {
  return () => {
    throw new ProgramBroken(`it called ${name}, which is not for programs`);
  };
}
