// npm run test:faults -- workspaces: snapshots of odd trees; variables, paths and commands that could be read as something else; sockets.
import { createServer, type Server } from "node:net";
import { createSocket } from "node:dgram";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { MrlmError, type Workspace } from "@mrlm/spec";
import { combined, drawn, fixtureOf, none, text } from "./support/cases.ts";
import { missingJail } from "./support/missing-jail.ts";

const fixture = fixtureOf();

/** Entries of trees, as statements of Python. `n()` is a new path in a folder of the tree. */
const ENTRIES: Readonly<Record<string, string>> = {
  "a file": "open(n(), 'wb').write(r.randbytes(r.randrange(5000)))",
  "an empty file": "open(n(), 'wb')",
  "a sparse file": "f = os.open(n(), 66); os.ftruncate(f, 4 * 2**20); os.pwrite(f, b'x', 2**21); os.close(f)",
  "a hard link":
    "f = n(); open(f, 'w').write('linked'); os.link(f, f + b'2'); os.mkdir(f + b'-d'); os.link(f, f + b'-d/3')",
  "an absolute link": "os.symlink('/workspace', n())",
  "a link to nothing": "os.symlink('nowhere/at all', n())",
  "a link to itself": "f = n(); os.symlink(os.path.basename(f), f)",
  "a link out": "os.symlink('../' * 30 + 'etc/passwd', n())",
  "a pipe": "os.mkfifo(n(), 0o640)",
  "a long name": "open(n(b'l' * 255), 'w').write('long')",
  "a name that is no text": "open(n(b'\\xff\\xfe\\xc3('), 'w').write('x')",
  "a name with a newline": "open(n(b'a\\nb\\t\\r'), 'w').write('x')",
  "a name like an option": "open(n(b'--checkpoint-action=exec=sh'), 'w').write('x'); open(n(b'-rf'), 'w')",
  "a name with quotes": "open(n(b'\\'\"$(id)`*?[\\\\'), 'w').write('x')",
  "a deep folder": "os.makedirs(os.path.join(n(b'deep'), b'/'.join([b'd' * 40] * 50)))",
  "a folder that is not writable": "f = n(b'shut'); os.mkdir(f); os.chmod(f, 0o500)",
  "a file without permissions": "f = n(); open(f, 'w').write('unread'); os.chmod(f, 0)",
  "bits of permissions": "f = n(); open(f, 'w').write('x'); os.chmod(f, r.choice([0o4755, 0o2755, 0o1777, 0o6711]))",
  "an attribute": "f = n(); open(f, 'w').write('x'); os.setxattr(f, 'user.note', r.randbytes(40))",
  "an old time": "f = n(); open(f, 'w').write('x'); os.utime(f, (1, r.randrange(2**31)))",
  "many files":
    "f = n(b'many'); os.mkdir(f); [open(os.path.join(f, b'%d' % i), 'w').write(str(i)) for i in range(300)]",
  "a whiteout of an overlay": "open(n(b'.wh.x'), 'w').write('x'); open(n(b'.wh..wh..opq'), 'w')",
};
const MAKE = (seed: number, entries: readonly string[]): string => `
import os, random
r = random.Random(${seed})
folders = [b'/workspace', b'/tmp', b'/root', b'/var/x']
os.makedirs('/var/x', exist_ok=True)
count = 0
def n(name=None):
    global count
    count += 1
    folder = os.path.join(r.choice(folders), b'f%d' % count)
    os.mkdir(folder)
    return os.path.join(folder, name or b'e%d' % count)
${entries.join("\n")}
`;
/** Prints a line for each entry of the tree, with all that a snapshot keeps. */
const SHOW = `
import hashlib, os, stat
inodes = {}
for root in (b'/workspace', b'/tmp', b'/root', b'/var/x'):
    for folder, names, files in sorted(os.walk(root)):
        for name in sorted(names + files):
            path = os.path.join(folder, name)
            s = os.lstat(path)
            row = [path, oct(s.st_mode)]
            if stat.S_ISREG(s.st_mode):
                if not s.st_mode & 0o400: os.chmod(path, 0o400)
                row += [hashlib.sha256(open(path, 'rb').read()).hexdigest(), inodes.setdefault(s.st_ino, path), s.st_nlink, int(s.st_mtime), s.st_blocks < 4 * 2**11]
                row += [(key, os.getxattr(path, key)) for key in os.listxattr(path)]
                os.chmod(path, stat.S_IMODE(s.st_mode))
            if stat.S_ISLNK(s.st_mode): row.append(os.readlink(path))
            print(*row)
`;

async function python(workspace: Workspace, code: string): Promise<string> {
  const { stdout, stderr, exitCode } = await workspace.exec(
    "exec python3 - | { sha256sum; cat > /dev/null; }; exec 2>&1",
    { stdin: code },
  );
  if (exitCode !== 0 || stderr.length > 0) throw new Error(text(stderr));
  return text(stdout);
}

/** Values that a shell, the arguments of bubblewrap or a program could read as something else. */
const VALUES = [
  "",
  " ",
  "--bind",
  "--",
  "-c",
  "a b",
  "$(id)",
  "`id`",
  "'; id; '",
  '"',
  "\\",
  "a\nb",
  "\t\r",
  "%s%n",
  "*",
  "~",
  "é日\u{1F600}",
  "=",
  "/proc/1/root",
  "x".repeat(5000),
  "\u0001\u001e",
  "() { :; }; id",
];
/** Variables that change how programs start. */
const NAMES = [
  "PLAIN",
  "a_b",
  "BASH_ENV",
  "ENV",
  "LD_LIBRARY_PATH",
  "LD_PRELOAD",
  "PYTHONPATH",
  "IFS",
  "PS4",
  "SHELLOPTS",
  "CDPATH",
  "GCONV_PATH",
  "HOME",
  "TMPDIR",
  "LC_ALL",
  "PROMPT_COMMAND",
  "BASH_FUNC_id%%",
  "--bind",
  "x.y",
  "é",
];

(missingJail === undefined ? describe : describe.skip)(`trees (${missingJail ?? "here"})`, () => {
  const random = drawn("trees");
  const trees = Array.from({ length: 80 }, (_, seed) => ({
    seed,
    entries: random.shuffle(Object.keys(ENTRIES)).slice(0, random.integer(3, 9)),
  }));
  test(`${trees.length} snapshots of odd trees`, async () => {
    await none(trees, async ({ seed, entries }) => {
      const [workspace, other] = await Promise.all([fixture.workspaces.open(), fixture.workspaces.open()]);
      try {
        await python(
          workspace,
          MAKE(
            seed,
            entries.map((name) => ENTRIES[name] as string),
          ),
        );
        const before = await python(workspace, SHOW);
        const name = await workspace.snapshot();
        expect(await python(workspace, SHOW)).toBe(before);
        await workspace.exec(
          "chmod -R u+rwx /workspace /tmp /root /var; rm -rf /workspace/* /tmp/* /root/* /var/*; echo x > /workspace/new",
        );
        for (const each of [workspace, other]) {
          await each.restore(name);
          expect(await python(each, SHOW)).toBe(before);
        }
        return undefined;
      } finally {
        await Promise.all([workspace.close(), other.close()]);
      }
    });
  }, 900_000);

  const variables = random.shuffle(combined(NAMES, VALUES)).slice(0, 120);
  test(`${variables.length} variables`, async () => {
    await none(variables, async ([name, value]) => {
      const workspace = await fixture.workspaces.open({ env: { [name]: value }, files: { own: "own" } });
      try {
        const show = `cat /proc/$$/environ; cat ${fixture.host}/marker /proc/1/root${fixture.host}/marker`;
        const { stdout } = await workspace.exec(show);
        const variable = text(stdout)
          .split("\0")
          .find((each) => each.startsWith(`${name}=`));
        expect(text(stdout)).not.toMatch(/of the host|uid=/);
        return variable === `${name}=${value}` ? undefined : `it is ${variable}`;
      } finally {
        await workspace.close();
      }
    });
  }, 900_000);

  const paths = combined(["readFile", "writeFile", "list"] as const, [
    ...VALUES,
    "/",
    ".",
    "..",
    "a/../..",
    "//x",
    "/dev/sda",
    "/dev/null",
    "/proc/self/mem",
    "/etc/passwd",
    "/usr/bin/x",
    "a\0b",
    "../../../../other",
    "x/".repeat(2000),
    "n".repeat(256),
  ]);
  test(`${paths.length} paths`, async () => {
    const workspace = await fixture.workspaces.open({ files: { own: "own" } });
    await none(paths, async ([how, path]) => {
      if (how === "readFile") expect(text(await workspace.readFile(path))).not.toMatch(/of the host|daemon/);
      if (how === "list")
        expect(
          (await workspace.list(path))?.find(({ name }) => ["boot", "media", "marker"].includes(name)),
        ).toBeUndefined();
      if (how !== "writeFile") return undefined;
      try {
        await workspace.writeFile(path, "written");
      } catch (error) {
        return MrlmError.hasCode(error, "DATA_INVALID") ? undefined : String(error);
      }
      return text(await workspace.readFile(path)) === "written" ? undefined : "another file was written";
    });
    expect(
      text((await workspace.exec("cat own; head -c 4 /usr/bin/env | tail -c 3; head -c 4 /etc/passwd")).stdout),
    ).toBe("ownELFroot");
    await workspace.close();
  }, 900_000);

  const commands = combined(
    VALUES.filter((value) => value !== ""),
    ["exec", "shell", "argument", "stdin"] as const,
  );
  test(`${commands.length} commands`, async () => {
    await none(commands, async ([value, way]) => {
      const workspace = await fixture.workspaces.open({ files: { own: "own" } });
      try {
        const quoted = `'${value.replaceAll("'", `'\\''`)}'`;
        const shell = await workspace.shell();
        // As a command it may do anything but end what comes after it; as data it stays as it is.
        const options = { timeoutMs: 4000 };
        if (way === "exec") await workspace.exec(value, options);
        if (way === "shell") await shell.run(value, options);
        if (way === "argument") expect(text((await workspace.exec(`printf %s ${quoted}`)).stdout)).toBe(value);
        if (way === "argument") expect(text((await shell.run(`printf %s ${quoted}`)).output)).toBe(value);
        if (way === "stdin") expect(text((await workspace.exec("cat", { stdin: value })).stdout)).toBe(value);
        const after = await shell.run("echo on", { timeoutMs: 20_000 });
        return text(after.output).endsWith("on\n") && after.exitCode === 0 ? undefined : `then ${text(after.output)}`;
      } finally {
        await workspace.close();
      }
    });
  }, 900_000);
});

/** Servers, as Python that listens and prints `ready`; PORT is of the case. Each answers THROUGH. */
const SERVERS: Readonly<Record<string, string>> = {
  TCP: "s = socket.create_server(('127.0.0.1', PORT))",
  "TCP on all addresses": "s = socket.create_server(('0.0.0.0', PORT))",
  "TCP of IPv6": "s = socket.create_server(('::1', PORT), family=socket.AF_INET6)",
  "a socket by path": "s = socket.socket(socket.AF_UNIX); s.bind('/tmp/socket-PORT'); s.listen()",
  "an abstract socket": "s = socket.socket(socket.AF_UNIX); s.bind('\\0mrlm-PORT'); s.listen()",
};
/** Clients that try to reach any of them. */
const CLIENTS: Readonly<Record<string, string>> = {
  "a program": "exec python3 client.py PORT",
  "a shell":
    'for h in 127.0.0.1 localhost 127.1.1.1 0.0.0.0; do timeout 2 bash -c "exec 3<>/dev/tcp/$h/PORT && cat <&3"; done',
  "a daemon": "setsid -w -f python3 client.py PORT > out 2>&1; setsid -w python3 client.py PORT; cat out",
};
const CLIENT = `
import glob, socket, sys
port = int(sys.argv[1])
places = [(socket.AF_INET, (h, port)) for h in ('127.0.0.1', '127.0.0.2', '0.0.0.0')] + [(socket.AF_INET6, ('::1', port)), (socket.AF_INET6, ('::ffff:127.0.0.1', port))]
places += [(socket.AF_UNIX, p) for p in [f'\\0mrlm-{port}', *glob.glob('/tmp/socket*'), *glob.glob('/proc/*/root/tmp/socket*'), *glob.glob('/proc/*/cwd/../tmp/socket*')]]
for family, place in places:
    try:
        s = socket.socket(family)
        s.settimeout(2)
        s.connect(place)
        print(s.recv(99).decode(), flush=True)
    except OSError as error:
        print(error)
`;

(missingJail === undefined ? describe : describe.skip)(`sockets (${missingJail ?? "here"})`, () => {
  const listening: Server[] = [];
  const udp = createSocket("udp4");
  let received = 0;
  let port = 0;
  beforeAll(async () => {
    for (const where of [
      { port: 0, host: "127.0.0.1" },
      { path: "\0mrlm-host" },
      { path: join(fixture.host, "..", `socket-${process.pid}`) },
    ]) {
      const server = createServer((socket) => socket.end("THROUGH"));
      await new Promise<void>((resolve) => void server.listen(where, resolve));
      listening.push(server);
    }
    const address = listening[0]?.address();
    port = typeof address === "object" && address !== null ? address.port : 0;
    udp.on("message", () => received++);
    await new Promise<void>((resolve) => void udp.bind(port, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    for (const server of listening) server.close();
    udp.close();
  });

  const cases = combined(Object.entries(SERVERS), Object.entries(CLIENTS), [
    "another workspace",
    "the same workspace",
  ] as const);
  test(`${cases.length} servers of workspaces`, async () => {
    await none(cases, async ([[, server], [, client], where], at) => {
      const own = String(20_000 + at);
      const [first, second] = (await Promise.all(
        [0, 1].map(() => fixture.workspaces.open({ files: { "client.py": CLIENT } })),
      )) as [Workspace, Workspace];
      try {
        const code = `import socket\n${server.replaceAll("PORT", own)}\nprint('ready', flush=True)\nwhile True: c = s.accept()[0]; c.sendall(b'THROUGH'); c.close()\n`;
        const ready = Promise.withResolvers<void>();
        const stop = new AbortController();
        const serving = first.exec("exec python3 -", {
          stdin: code,
          signal: stop.signal,
          onOutput: () => ready.resolve(),
        });
        await Promise.race([ready.promise, serving]);
        const output = text(
          (await (where === "the same workspace" ? first : second).exec(client.replaceAll("PORT", own))).stdout,
        );
        stop.abort();
        await serving.catch((error: unknown) => expect(error).toMatchObject({ code: "CANCELLED" }));
        // A client by TCP of version 4 alone does not reach the others, in the same workspace either.
        const reaches = where === "the same workspace" && (server.includes("0.0") || !client.includes("/dev/tcp"));
        return output.includes("THROUGH") === reaches ? undefined : output;
      } finally {
        await Promise.all([first.close(), second.close()]);
      }
    });
  }, 900_000);

  const hosts = combined(Object.entries(CLIENTS), ["exec", "shell"] as const);
  test(`${hosts.length} servers of the host`, async () => {
    await none(hosts, async ([[, client], way]) => {
      const workspace = await fixture.workspaces.open({ files: { "client.py": CLIENT } });
      try {
        const program = `${client.replace("exec ", "").replaceAll("PORT", String(port))}; echo x > /dev/udp/127.0.0.1/${port}`;
        const output =
          way === "exec"
            ? (await workspace.exec(`bash -c '${program}'`)).stdout
            : (await (await workspace.shell()).run(program)).output;
        return text(output).includes("THROUGH") || received > 0 ? text(output) : undefined;
      } finally {
        await workspace.close();
      }
    });
  }, 900_000);
});
