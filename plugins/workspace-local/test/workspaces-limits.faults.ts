// npm run test:faults -- workspaces: programs that use as much as they can of each resource, in each place, in each way.
import { describe, expect, test } from "@jest/globals";
import type { Workspace } from "@mrlm/spec";
import { combined, fixtureOf, MEGABYTE, none, nothingLeft, SLEEP, text } from "./support/cases.ts";
import { missingJail } from "./support/missing-jail.ts";

const fixture = fixtureOf({ timeoutMs: 60_000, cpuMs: 40_000, processes: 24, memoryBytes: 96 * MEGABYTE });
const python = (code: string): string => `exec python3 -c '${code}'`;
const WAYS = ["exec", "shell"] as const;

/** Programs that fill the disk of a folder, each in another way. They end with an error of the disk. */
const FILLERS: Readonly<Record<string, string>> = {
  "large files": 'for i in range(99): open(f"{d}/{i}", "wb").write(bytes(2**20))',
  "small files": 'for i in range(99999): open(f"{d}/{i}", "wb").write(b"x" * 4097)',
  appends:
    'files = [open(f"{d}/{i}", "ab", 0) for i in range(9)]\nwhile True:\n    for f in files: f.write(bytes(65536))',
  "reserved blocks": 'for i in range(99): f = os.open(f"{d}/{i}", 66); os.posix_fallocate(f, 0, 2**20)',
  "holes that are filled":
    'for i in range(99):\n    f = os.open(f"{d}/{i}", 66); os.ftruncate(f, 2**21)\n    for at in range(0, 2**21, 4096): os.pwrite(f, b"x", at)',
  "memory of files":
    'import mmap\nfor i in range(99):\n    f = os.open(f"{d}/{i}", 66); os.posix_fallocate(f, 0, 2**20); m = mmap.mmap(f, 2**20); m[:] = b"x" * 2**20',
  "open files without a name":
    'held = []\nfor i in range(99): f = open(f"{d}/x", "wb"); os.remove(f"{d}/x"); f.write(bytes(2**20)); f.flush(); held.append(f)',
  "copies by the kernel":
    'open(f"{d}/o", "wb").write(bytes(2**20))\nfor i in range(99): a = os.open(f"{d}/o", 0); b = os.open(f"{d}/{i}", 66); os.posix_fallocate(b, 0, 1); os.sendfile(b, a, 0, 2**20)',
};
const FOLDERS = ["/workspace", "/tmp", "/root", "/var", "/dev/shm"];

/** Programs that make as many processes or threads as they can, up to a limit of 24; none makes more than 64. */
const MANY: Readonly<Record<string, string>> = {
  "processes that sleep": `for i in $(seq 64); do sleep ${SLEEP} & done; wait`,
  daemons: `for i in $(seq 64); do setsid -f sleep ${SLEEP}; done; sleep ${SLEEP}`,
  orphans: `for i in $(seq 32); do (sh -c 'sleep ${SLEEP} & sleep ${SLEEP} &'); done; sleep ${SLEEP}`,
  "a chain": `cat > c <<'END'\n[ $1 -gt 0 ] && sh c $(($1 - 1))\nsleep ${SLEEP}\nEND\nsh c 63`,
  "forks of Python": python(
    `import os, time\nfor _ in range(64):\n    if os.fork() == 0: os.execlp("sleep", "sleep", "${SLEEP}")\ntime.sleep(600)`,
  ),
  "stopped processes": `for i in $(seq 64); do sleep ${SLEEP} & kill -STOP $!; done; wait`,
  "processes that ignore signals": `for i in $(seq 64); do sh -c 'trap "" INT TERM HUP QUIT; sleep ${SLEEP}; sleep ${SLEEP}' & done; wait`,
};

/** Programs that take memory. */
const MEMORY: Readonly<Record<string, string>> = {
  "an array": python("x = bytearray(400 * 2**20); import time; time.sleep(600)"),
  "arrays that grow": python("import time\nx = []\nwhile True: x.append(bytearray(2**20)); time.sleep(0.002)"),
  "mapped memory": python(
    "import mmap, time\nm = mmap.mmap(-1, 400 * 2**20)\nfor at in range(0, 400 * 2**20, 4096): m[at] = 1\ntime.sleep(600)",
  ),
  children: python(
    "import os, time\nfor _ in range(12):\n    if os.fork() == 0: x = bytearray(20 * 2**20); time.sleep(600)\ntime.sleep(600)",
  ),
  daemons: `for i in 1 2 3 4 5 6 7 8; do setsid -f python3 -c 'import time; x = bytearray(30 * 2**20); time.sleep(600)'; done; sleep ${SLEEP}`,
  "stacks of threads": python(
    "import threading, time\nthreading.stack_size(2**25)\ndef f(n): x = bytes(2**20) * 24; time.sleep(600)\nfor _ in range(9): threading.Thread(target=f, args=(0,)).start()",
  ),
};

/** Output of 10 MB and more a second, in forms that a reader could misread. */
const FORMS: Readonly<Record<string, string>> = {
  zeros: "bytes(65536)",
  lines: 'b"x\\n" * 32768',
  "one line": 'b"y" * 65536',
  "marks of a shell": 'b"\\x1e00000000-0000-0000-0000-000000000000 0\\x1e" * 1600',
  "invalid text": 'b"\\xff\\xfe\\xc3(" * 16384',
  "controls of a terminal": 'b"\\x1b[2J\\x07\\x00\\r" * 8192',
};
const STREAMS: Readonly<Record<string, string>> = { stdout: "1", stderr: "2", both: "1 + i % 2" };
const OUTPUT_MB = 24;

interface Outcome {
  readonly limit: string | undefined;
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly output: Uint8Array;
  readonly truncated: boolean;
}

async function runBy(
  workspace: Workspace,
  way: (typeof WAYS)[number],
  program: string,
  timeoutMs = 60_000,
): Promise<Outcome> {
  if (way === "exec") {
    const { stdout, stderr, limit, ...rest } = await workspace.exec(program, { timeoutMs });
    return { ...rest, limit, output: Buffer.concat([stdout, stderr]) };
  }
  const { limit, ...rest } = await (await workspace.shell()).run(program.replace(/^exec /, ""), { timeoutMs });
  return { ...rest, limit };
}

async function inNew(work: (workspace: Workspace) => Promise<string | undefined>): Promise<string | undefined> {
  const workspace = await fixture.workspaces.open();
  try {
    const complaint = await work(workspace);
    const after = await workspace.exec("rm -rf /workspace/* /tmp/* /root/* /var/* /dev/shm/*; echo on > f; cat f");
    return (
      complaint ?? (text(after.stdout) === "on\n" ? undefined : `then: ${text(after.stdout)}${text(after.stderr)}`)
    );
  } finally {
    await workspace.close();
  }
}

function ends(
  cases: readonly (readonly [readonly [string, string], (typeof WAYS)[number]])[],
  wanted: string,
): Promise<void> {
  return none(cases, ([[, program], way]) =>
    inNew(async (workspace) => {
      const { limit, exitCode, timedOut } = await runBy(workspace, way, program);
      return limit === wanted && exitCode === null && !timedOut ? undefined : `${limit} ${exitCode} ${timedOut}`;
    }),
  );
}

(missingJail === undefined ? describe : describe.skip)(`limits (${missingJail ?? "here"})`, () => {
  const disks = combined(Object.entries(FILLERS), FOLDERS, WAYS);
  test(`${disks.length} full disks`, async () => {
    await none(disks, ([[, filler], folder, way]) =>
      inNew(async (workspace) => {
        await workspace.writeFile("fill.py", `import os\nd = "${folder}/fill"\nos.makedirs(d)\n${filler}\n`);
        const { limit, exitCode, output } = await runBy(workspace, way, "python3 fill.py");
        const used = Number(
          text(
            (await workspace.exec(`du -sm --apparent-size ${FOLDERS.join(" ")} | awk '{ s += $1 } END { print s }'`))
              .stdout,
          ),
        );
        // The space of files without a name, and of a block that does not fit, is free again at the end.
        const isFull = limit === "disk" || (/held|fallocate/.test(filler) && text(output).includes("No space left"));
        return isFull && exitCode === 1 && used <= 40
          ? undefined
          : `${limit} ${exitCode} ${used} MB ${text(output).slice(-200)}`;
      }),
    );
  }, 900_000);

  const many = combined(Object.entries(MANY), WAYS);
  test(`${many.length} crowds of at most 64 processes`, async () => {
    await ends(many, "processes");
    await nothingLeft();
  }, 900_000);

  const memory = combined(Object.entries(MEMORY), WAYS);
  test(`${memory.length} full memories`, () => ends(memory, "memory"), 900_000);

  const outputs = combined(Object.entries(FORMS), Object.entries(STREAMS), WAYS);
  test(`${outputs.length} outputs of ${OUTPUT_MB} MB`, async () => {
    await none(outputs, ([[, form], [, stream], way]) =>
      inNew(async (workspace) => {
        const code = `import os\ndata = ${form}\nfor i in range(${OUTPUT_MB * 16}):\n    left = data\n    while left: left = left[os.write(${stream}, left):]\n`;
        await workspace.writeFile("out.py", code);
        const { exitCode, truncated, output, timedOut } = await runBy(workspace, way, "python3 out.py");
        expect([exitCode, timedOut]).toEqual([0, false]);
        return truncated && output.length < 40_000 ? undefined : `${truncated} ${output.length} bytes`;
      }),
    );
  }, 900_000);
});
