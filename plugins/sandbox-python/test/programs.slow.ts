import { expect, test } from "@jest/globals";
import { describeKinds } from "./support/kinds.ts";

const ASYNCIO = `
import asyncio

async def square(n):
    await asyncio.sleep(0.01 * (3 - n))
    return n * n

async def main():
    queue, lock = asyncio.Queue(), asyncio.Lock()
    async with asyncio.TaskGroup() if hasattr(asyncio, "TaskGroup") else lock:
        asyncio.get_running_loop().call_later(0.01, queue.put_nowait, "came")
    try:
        await asyncio.wait_for(asyncio.sleep(60), 0.01)
    except asyncio.TimeoutError:
        return await asyncio.gather(*map(square, range(4))), await queue.get()

print(asyncio.run(main()), asyncio.run(square(5)))
`;

describeKinds("what programs use in Python", (sandbox) => {
  test("asyncio, without sockets or threads", async () => {
    expect(await sandbox().run({ code: ASYNCIO })).toMatchObject({
      verdict: "ok",
      stdout: "([0, 1, 4, 9], 'came') 25\n",
    });
  });

  test("U13: half of a surrogate pair is one character of standard input and of files", async () => {
    const code = "print(len(input()), len(open('f').read()), ascii(open('f').read()))";
    expect(await sandbox().run({ code, stdin: "\0\ud800", files: { f: "\udc00" } })).toMatchObject({
      verdict: "ok",
      stdout: "2 1 '\\ufffd'\n",
    });
  });

  test("modules that are not imported beforehand", async () => {
    const code =
      "import base64, csv, hashlib, pathlib, uuid, zlib\nprint(hashlib.md5(b'a').hexdigest(), base64.b64encode(b'a').decode(), pathlib.Path('a/b').name)";
    expect(await sandbox().run({ code })).toMatchObject({
      verdict: "ok",
      stdout: "0cc175b9c0f1b6a831c399e269772661 YQ== b\n",
    });
  });

  test("standard input, given or empty; and `random`, which draws the same in each submission", async () => {
    const code = "import random, sys\nprint(repr(sys.stdin.read()), random.random())";
    const results = await Promise.all(
      [{ code, stdin: "1 2\n" }, { code }, { code }].map((submission) => sandbox().run(submission)),
    );
    const [given, ...empty] = results.map(({ stdout }) => stdout.split(" ").slice(0, -1).join(" "));
    expect([given, ...empty]).toEqual(["'1 2\\n'", "''", "''"]);
    expect(new Set(results.map(({ stdout }) => stdout.split(" ").at(-1))).size).toBe(1);
  });

  test("more output than a pipe holds at first, all of it kept", async () => {
    const { stdout, stdoutTruncated } = await sandbox().run({
      code: "print('x' * 300_000)",
      limits: { outputBytes: 400_000 },
    });
    expect([stdout.length, stdoutTruncated]).toEqual([300_001, false]);
  });

  test("output of which each byte is six characters of JSON, or twelve", async () => {
    const code = "import sys\nsys.stdout.write('\\x01' * 12_000_000)\nsys.stderr.write('\\U0001f600' * 1_500_000)";
    const { verdict, stdout, stderr, stdoutTruncated } = await sandbox().run({
      code,
      limits: { outputBytes: 13_000_000, wallMs: 60_000 },
    });
    expect([
      verdict,
      stdout.length,
      stderr.length,
      stdout.at(-1),
      stderr.endsWith("\u{1f600}"),
      stdoutTruncated,
    ]).toEqual(["ok", 12_000_000, 3_000_000, "\u0001", true, false]);
  });

  test("several megabytes of standard input", async () => {
    const code = "import sys\ntext = sys.stdin.read()\nprint(len(text), text.count('\\n'))";
    expect(await sandbox().run({ code, stdin: "12345\r\n".repeat(700_000), limits: { wallMs: 60_000 } })).toMatchObject(
      { verdict: "ok", stdout: "4900000 700000\n" },
    );
    // Input above the limit is never read in part.
    expect(
      (
        await sandbox().run({
          code,
          stdin: "x".repeat(40_000_000),
          limits: { wallMs: 60_000, memoryBytes: 64_000_000 },
        })
      ).verdict,
    ).toBe("memory-limit");
  });

  test("sources of every form: as a file that holds them", async () => {
    const sources = [
      "\ufeffprint('é')\r\nif True:\r\n\tprint(2)\f\r\n",
      "# -*- coding: latin-1 -*-\nprint('é')\n\fprint(2)",
      `# ${"x".repeat(1_000_000)}\nprint('é\\n2')`,
    ];
    const results = await Promise.all(sources.map((code) => sandbox().run({ code, limits: { wallMs: 60_000 } })));
    expect(results.map(({ stdout }) => stdout)).toEqual(sources.map(() => "é\n2\n"));
  });

  test("a source that no file could hold is a SyntaxError with its line", async () => {
    const results = await Promise.all(
      ["x = 1\ny = '\0'", "x = 1\ny = '\ud800'"].map((code) => sandbox().run({ code })),
    );
    expect(results.map(({ verdict, error }) => [verdict, error?.name, error?.line])).toEqual([
      ["error", "SyntaxError", 2],
      ["error", "SyntaxError", 2],
    ]);
  });

  test("threads that are not joined, where there are any; and exits by a truth value", async () => {
    const code =
      "import threading, time\ndef work():\n    time.sleep(0.1)\n    print('done')\ntry:\n    threading.Thread(target=work).start()\nexcept RuntimeError:\n    work()\nraise SystemExit(False)";
    expect(await sandbox().run({ code })).toMatchObject({ verdict: "ok", exitCode: 0, stdout: "done\n", stderr: "" });
  });

  test("a value that is too long to be sent is still shown", async () => {
    const result = await sandbox().run({
      code: "def f(): return ['x' * 100] * 100_000",
      call: { name: "f", arguments: [] },
    });
    expect([result.verdict, result.value, result.shown?.slice(0, 4)]).toEqual(["ok", undefined, "['xx"]);
  });

  test("a small limit on memory counts the submission's own, whatever the sandbox prepares meanwhile", async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, () =>
        sandbox().run({ code: "x = bytearray(4_000_000)", limits: { memoryBytes: 16_000_000 } }),
      ),
    );
    expect(results.filter(({ verdict }) => verdict !== "ok")).toEqual([]);
  });

  test("what a program may use does not depend on those before it", async () => {
    const limits = { memoryBytes: 16_000_000, wallMs: 60_000 };
    const all = async (code: string, more = {}): Promise<string[]> =>
      (await Promise.all(Array.from({ length: 6 }, () => sandbox().run({ code, limits: { ...limits, ...more } })))).map(
        ({ verdict }) => verdict,
      );
    const verdicts = [];
    for (let round = 0; round < 2; round++) {
      verdicts.push(
        await all("x = bytearray(60_000_000)", { memoryBytes: 64_000_000 }),
        await all("x = bytearray(40_000_000)"),
        await all("x = bytearray(4_000_000)"),
      );
    }
    expect(verdicts.map((each) => [...new Set(each)])).toEqual([
      ["ok"],
      ["memory-limit"],
      ["ok"],
      ["ok"],
      ["memory-limit"],
      ["ok"],
    ]);
  });

  test("files take 32 MB together; what is written anew or removed takes no more", async () => {
    const code =
      "import os\nfor n in range(60):\n    with open('again', 'wb') as file: file.write(b'x' * 1_000_000)\n    with open('gone', 'wb') as file:\n        file.write(b'y')\n        file.write(b'y' * 1_000_000)\n        file.truncate(10)\n    assert open('gone', 'rb').read() == b'y' * 10\n    os.remove('gone')\nprint(os.path.getsize('again'))\ntry:\n    for n in range(40): open(f'more{n}', 'wb').write(b'x' * 1_000_000)\nexcept OSError as e: print(e.errno in (28, 51))";
    expect(await sandbox().run({ code, limits: { wallMs: 60_000 } })).toMatchObject({
      verdict: "ok",
      stdout: "1000000\nTrue\n",
    });
  });

  test("inputs of a session have limits of their own", async () => {
    const session = await sandbox().session({ limits: { cpuMs: 1000, memoryBytes: 64_000_000 } });
    const limits = { cpuMs: 5000, memoryBytes: 128_000_000 };
    const verdicts = [
      await session.evaluate({ code: "import sys\nx = 1\nsys.stdin.read()", stdin: "a" }),
      await session.evaluate({ code: "y = bytearray(80_000_000)\nsys.stdin.read()", limits }),
    ];
    await session.close();
    expect(verdicts.map(({ verdict, value }) => [verdict, value])).toEqual([
      ["ok", "a"],
      ["ok", ""],
    ]);
  });

  test("files of any bytes come in and go out, also after an error, and none from outside the working directory", async () => {
    const given = Buffer.from([0, 255, 10]).toString("base64");
    const code = `
import os
os.mkdir("d")
open("d/out", "wb").write(open("in", "rb").read()[::-1])
open("large", "wb").write(bytes(4 << 20))
os.symlink("/etc", "link")
raise ValueError`;
    const fetchFiles = ["in", "d/out", "d", "large", "link/hostname", "/etc/hostname", "../hostname", "absent", "a\0b"];
    const { verdict, files } = await sandbox().run({ code, files: { in: { base64: given } }, fetchFiles });
    const out = Buffer.from([10, 255, 0]).toString("base64");
    expect([verdict, files]).toEqual(["error", { in: given, "d/out": out }]);
    const left = await sandbox().run({ code: "import sys\nopen('x', 'w').write('é')\nsys.exit(3)", fetchFiles: ["x"] });
    expect([left.exitCode, left.files]).toEqual([3, { x: Buffer.from("é").toString("base64") }]);
  });
});
