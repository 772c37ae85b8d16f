import { CLONE, FORKS, NAMESPACES, REFUSED, SHARED_MEMORY, SOCKET_OPTION, SOCKETS, UNKNOWN } from "./syscalls.ts";

/** Permissions of a program. */
export interface SeccompOptions {
  /** May start processes. */
  readonly forks: boolean;
  /** May make namespaces and mounts. */
  readonly namespaces: boolean;
  /** May make memory that the size of no process contains: memfd, System V segments. Default true. */
  readonly sharedMemory?: boolean;
  /** May open Unix and Internet sockets, and those of netlink. Sockets of other families reach the host or large parts of the kernel. Default false. */
  readonly sockets?: boolean;
  /** Filter that the process already has. Its rules are left out here, because a longer filter takes longer to load. */
  readonly behind?: Omit<SeccompOptions, "behind">;
}

/** Column of the table of system calls, and the audit number of the architecture (linux/audit.h). */
const ARCHITECTURES: Readonly<Record<string, { readonly column: 0 | 1; readonly audit: number }>> = {
  x64: { column: 0, audit: 0xc000_003e },
  arm64: { column: 1, audit: 0xc000_00b7 },
};

// Classic BPF (linux/bpf_common.h) and its return values for seccomp (linux/seccomp.h).
const LOAD_WORD = 0x20;
const JUMP_ALWAYS = 0x05;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
const KILL_PROCESS = 0x8000_0000;
const ALLOW = 0x7fff_0000;
const ERRNO = 0x0005_0000;
const EPERM = 1;
const ENOSYS = 38;

// struct seccomp_data: int nr; u32 arch; u64 instruction_pointer; u64 args[6].
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const FIRST_ARGUMENT_AT = 16;
const SECOND_ARGUMENT_AT = 24;
const THIRD_ARGUMENT_AT = 32;

/** System calls of the x32 mode have this bit in their numbers. */
const X32_BIT = 0x4000_0000;
const CLONE_THREAD = 0x0001_0000;
/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. */
const SOCKET_FAMILIES = [1, 2, 10, 16];
/** SOL_SOCKET, and its options SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE and SO_RCVBUFFORCE. */
const SOCKET_LEVEL = 1;
const BUFFER_OPTIONS = [7, 8, 32, 33];
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NAMESPACES = 0x7e02_0000;

type Table = Readonly<Record<string, readonly [x64: number, arm64: number]>>;
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Returns the filter as an array of `struct sock_filter`, 8 bytes each; `undefined` on an architecture without a table. */
export function seccompFilter(options: SeccompOptions, architecture: string = process.arch): Buffer | undefined {
  const target = ARCHITECTURES[architecture];
  if (target === undefined) return undefined;
  const { column, audit } = target;
  const numbers = (tables: readonly Table[]): number[] =>
    tables.flatMap((table) => Object.values(table).map((row) => row[column])).filter((number) => number !== 0);
  const outer = options.behind === undefined ? [] : refusedBy(options.behind);
  const refused = numbers(refusedBy(options).filter((table) => !outer.includes(table)));
  const unknown = options.behind === undefined ? numbers([UNKNOWN]) : [];
  const clone = [
    ...(options.behind === undefined ? bufferRule(SOCKET_OPTION[column]) : []),
    ...socketRule(SOCKETS.socket[column], options),
    ...cloneRule(CLONE[column], options),
  ];
  // The return instructions ALLOW, EPERM and ENOSYS come last; a jump gives the number of instructions to skip.
  const length = refused.length + unknown.length + clone.length;
  const checks = [...refused.map((number) => [number, 1] as const), ...unknown.map((number) => [number, 2] as const)];
  const instructions: Instruction[] = [
    [LOAD_WORD, 0, 0, ARCHITECTURE_AT],
    [JUMP_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD_WORD, 0, 0, NUMBER_AT],
    ...(architecture === "x64" ? [[JUMP_AT_LEAST, 0, 1, X32_BIT] as const, answer(ENOSYS)] : []),
    ...checks.map(([number, toAnswer], at) => [JUMP_EQUAL, length - at - 1 + toAnswer, 0, number] as const),
    ...clone,
    [RETURN, 0, 0, ALLOW],
    answer(EPERM),
    answer(ENOSYS),
  ];
  return encode(instructions);
}

function refusedBy({ forks, namespaces, sharedMemory, sockets }: SeccompOptions): Table[] {
  return [
    REFUSED,
    ...(namespaces ? [] : [NAMESPACES]),
    ...(forks ? [] : [FORKS]),
    ...(sockets === true ? [] : [SOCKETS]),
    ...(sharedMemory === false ? [SHARED_MEMORY] : []),
  ];
}

/** Allows sockets of some families only. The number of the call is loaded, before and after it. */
function socketRule(number: number, { sockets = false }: SeccompOptions): Instruction[] {
  if (!sockets) return [];
  const families = SOCKET_FAMILIES.map(
    (family, at) => [JUMP_EQUAL, SOCKET_FAMILIES.length - at, 0, family] as const satisfies Instruction,
  );
  return [
    [JUMP_EQUAL, 0, families.length + 3, number],
    [LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT],
    ...families,
    answer(EPERM),
    [LOAD_WORD, 0, 0, NUMBER_AT],
  ];
}

/** Leaves the buffers of sockets as they are, without an error: they are memory of the kernel that counts toward no process. The number of the call is loaded, before and after it. */
function bufferRule(number: number): Instruction[] {
  const options = BUFFER_OPTIONS.map(
    (option, at) => [JUMP_EQUAL, BUFFER_OPTIONS.length - at, 0, option] as const satisfies Instruction,
  );
  return [
    [JUMP_EQUAL, 0, options.length + 6, number],
    [LOAD_WORD, 0, 0, SECOND_ARGUMENT_AT],
    [JUMP_EQUAL, 0, options.length + 3, SOCKET_LEVEL],
    [LOAD_WORD, 0, 0, THIRD_ARGUMENT_AT],
    ...options,
    [JUMP_ALWAYS, 0, 0, 1],
    answer(0),
    [LOAD_WORD, 0, 0, NUMBER_AT],
  ];
}

/** Allows threads always, processes and namespaces by the options. The return instructions ALLOW and EPERM follow it. */
function cloneRule(number: number, { forks, namespaces }: SeccompOptions): Instruction[] {
  if (namespaces) return [];
  const test: Instruction = forks ? [JUMP_ANY_BIT, 1, 0, CLONE_NAMESPACES] : [JUMP_ANY_BIT, 0, 1, CLONE_THREAD];
  return [[JUMP_EQUAL, 0, 2, number], [LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT], test];
}

function answer(errno: number): Instruction {
  return [RETURN, 0, 0, ERRNO | errno];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const program = Buffer.alloc(instructions.length * 8);
  instructions.forEach(([code, ifTrue, ifFalse, value], index) => {
    program.writeUInt16LE(code, index * 8);
    program.writeUInt8(ifTrue, index * 8 + 2);
    program.writeUInt8(ifFalse, index * 8 + 3);
    program.writeUInt32LE(value >>> 0, index * 8 + 4);
  });
  return program;
}
