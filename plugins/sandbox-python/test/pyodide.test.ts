import { afterAll, describe, expect, test } from "@jest/globals";
import { PooledSandbox } from "@mrlm/sandbox";
import { pyodideBackend } from "../src/pyodide-backend.ts";

const sandbox = new PooledSandbox({ backend: pyodideBackend, pool: { children: 1 } });
afterAll(() => sandbox.close());

describe("Python in Pyodide", () => {
  test("a program reads, writes and ends", async () => {
    const result = await sandbox.run({ code: "import sys\nprint(input() * 2)\nsys.exit(3)", stdin: "ab\n" });
    expect(result).toMatchObject({ verdict: "error", exitCode: 3, stdout: "abab\n" });
  });

  test("a program that does not end is ended, and its interpreter serves the next", async () => {
    expect(await sandbox.run({ code: "import builtins\nbuiltins.print = None\nwhile True: pass", limits: { wallMs: 300 } })).toMatchObject({ verdict: "timeout" });
    expect(await sandbox.run({ code: "print('here')" })).toMatchObject({ verdict: "ok", stdout: "here\n" });
  });

  test("a submission that lies about equality fails its test", async () => {
    const code = "class Liar(list):\n    def __eq__(self, other):\n        return True\ndef f(x):\n    return Liar()";
    const report = await sandbox.test({ code }, { entryPoints: ["f"], tests: [{ name: "a", code: "assert f(1) == [1]" }] });
    expect(report.tests).toMatchObject([{ name: "a", verdict: "failed" }]);
  });

  test("a submission is not told what is expected of it, and cannot end the loop that asks", async () => {
    const code = "class Near:\n    def __sub__(self, expected):\n        return 0.0\n    __add__ = __mul__ = __sub__\ndef f(x):\n    return Near()\ndef g(x):\n    raise StopIteration";
    const tests = ["assert abs(f(1) - 0.5) < 1e-6", "assert f(1) * 2 == 0", "assert 2 + f(1) == 0", "for got, wanted in zip(map(g, [1, 2]), [3, 4]):\n    assert got == wanted", "assert f(1) - f(2) == 0"];
    const report = await sandbox.test({ code }, { entryPoints: ["f", "g"], tests: tests.map((test) => ({ name: test, code: test })) });
    expect(report.tests.map(({ verdict }) => verdict)).toEqual(["failed", "failed", "failed", "failed", "passed"]);
  });
});
