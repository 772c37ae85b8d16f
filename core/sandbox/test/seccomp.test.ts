import { describe, expect, test } from "@jest/globals";
import { seccompFilter } from "../src/jail/seccomp.ts";

const ALLOW = 0x7fff_0000;
const EPERM = 0x0005_0001;
const ENOSYS = 0x0005_0026;
const KILL = 0x8000_0000;
const X64 = 0xc000_003e;
const ARM64 = 0xc000_00b7;

/** Runs a filter as the kernel does: loads, jumps, returns. */
function answer(
  filter: Buffer,
  {
    architecture = X64,
    number,
    flags = 0,
    more = [0, 0],
  }: { architecture?: number; number: number; flags?: number; more?: readonly [second: number, third: number] },
): number {
  const data = new Map([
    [0, number],
    [4, architecture],
    [16, flags],
    [24, more[0]],
    [32, more[1]],
  ]);
  let accumulator = 0;
  for (let at = 0; ; at++) {
    const [code, ifTrue, ifFalse, value] = [
      filter.readUInt16LE(at * 8),
      filter.readUInt8(at * 8 + 2),
      filter.readUInt8(at * 8 + 3),
      filter.readUInt32LE(at * 8 + 4),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.get(value) as number;
    else if (code === 0x05) at += value;
    else if (code === 0x15) at += accumulator === value ? ifTrue : ifFalse;
    else if (code === 0x35) at += accumulator >= value ? ifTrue : ifFalse;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? ifTrue : ifFalse;
    else throw new Error(`instruction ${code}`);
  }
}

describe("the filter of system calls", () => {
  const plain = seccompFilter({ forks: false, namespaces: false }, "x64") as Buffer;
  const forks = seccompFilter({ forks: true, namespaces: false }, "x64") as Buffer;
  const namespaces = seccompFilter({ forks: true, namespaces: true }, "x64") as Buffer;
  const [READ, CLONE, FORK, SOCKET, PTRACE, UNSHARE, IO_URING] = [0, 56, 57, 41, 101, 272, 425];
  const THREAD = 0x3d0f00;

  test("computing is allowed, other processes and the network are not", () => {
    expect([READ, SOCKET, PTRACE, UNSHARE, IO_URING].map((number) => answer(plain, { number }))).toEqual([
      ALLOW,
      EPERM,
      EPERM,
      EPERM,
      ENOSYS,
    ]);
  });

  test("threads are allowed, processes only to what forks, namespaces only to what makes them", () => {
    const calls = [
      { number: CLONE, flags: THREAD },
      { number: CLONE, flags: 17 },
      { number: FORK },
      { number: CLONE, flags: 0x2000_0011 },
      { number: UNSHARE },
    ];
    expect(calls.map((call) => answer(plain, call))).toEqual([ALLOW, EPERM, EPERM, EPERM, EPERM]);
    expect(calls.map((call) => answer(forks, call))).toEqual([ALLOW, ALLOW, ALLOW, EPERM, EPERM]);
    expect(calls.map((call) => answer(namespaces, call))).toEqual([ALLOW, ALLOW, ALLOW, ALLOW, ALLOW]);
  });

  test("sockets of some families are allowed to what may open them, and later calls are checked as before", () => {
    const sockets = seccompFilter(
      { forks: true, namespaces: false, sockets: true, sharedMemory: false },
      "x64",
    ) as Buffer;
    const [UNIX, INTERNET, KERNEL_CRYPTO, VIRTUAL_MACHINE] = [1, 2, 38, 40];
    const families = [UNIX, INTERNET, KERNEL_CRYPTO, VIRTUAL_MACHINE].map((flags) => ({ number: SOCKET, flags }));
    expect(families.map((call) => answer(sockets, call))).toEqual([ALLOW, ALLOW, EPERM, EPERM]);
    const calls = [
      { number: CLONE, flags: 17 },
      { number: CLONE, flags: 0x2000_0011 },
      { number: 319 },
      { number: READ },
    ];
    expect(calls.map((call) => answer(sockets, call))).toEqual([ALLOW, EPERM, EPERM, ALLOW]);
  });

  test("the buffers of sockets keep their size without an error; other options and later calls are checked as before", () => {
    const [OPTION, SEND_BUFFER, RECEIVE_BUFFER_FORCE, REUSE, TCP] = [54, 7, 33, 2, 6];
    const options = [
      { number: OPTION, more: [1, SEND_BUFFER] },
      { number: OPTION, more: [1, RECEIVE_BUFFER_FORCE] },
      { number: OPTION, more: [1, REUSE] },
      { number: OPTION, more: [TCP, SEND_BUFFER] },
      { number: SOCKET },
      { number: CLONE, flags: 0x2000_0011 },
    ] as const;
    expect(options.map((call) => answer(forks, call))).toEqual([0x0005_0000, 0x0005_0000, ALLOW, ALLOW, EPERM, EPERM]);
  });

  test("calls of another architecture kill, those of the x32 mode are unknown", () => {
    expect(answer(plain, { architecture: ARM64, number: READ })).toBe(KILL);
    expect(answer(plain, { number: 0x4000_0000 + SOCKET })).toBe(ENOSYS);
  });

  test("behind another filter only what that one allows is refused", () => {
    const inner = seccompFilter(
      { forks: false, namespaces: false, sharedMemory: false, behind: { forks: true, namespaces: true } },
      "x64",
    ) as Buffer;
    const MEMFD = 319;
    const calls = [
      { number: READ },
      { number: CLONE, flags: THREAD },
      { number: CLONE, flags: 17 },
      { number: FORK },
      { number: UNSHARE },
      { number: MEMFD },
    ];
    expect(calls.map((call) => answer(inner, call))).toEqual([ALLOW, ALLOW, EPERM, EPERM, EPERM, EPERM]);
    expect(
      [PTRACE, SOCKET, IO_URING].map((number) => [answer(inner, { number }), answer(namespaces, { number })]),
    ).toEqual([
      [ALLOW, EPERM],
      [ALLOW, EPERM],
      [ALLOW, ENOSYS],
    ]);
    expect(inner.length).toBeLessThan(plain.length / 2);
  });

  test("64-bit ARM has its own numbers; others have no filter", () => {
    const arm = seccompFilter({ forks: false, namespaces: false }, "arm64") as Buffer;
    expect([63, 198, 220].map((number) => answer(arm, { architecture: ARM64, number }))).toEqual([ALLOW, EPERM, EPERM]);
    expect(seccompFilter({ forks: false, namespaces: false }, "riscv64")).toBeUndefined();
  });
});
