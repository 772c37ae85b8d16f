import { describe, expect, test } from "@jest/globals";
import { findPythons } from "../src/find-pythons.ts";
import { findOnPath, pythonCandidates } from "../src/python-candidates.ts";
import { fakePythons } from "./support/fake-run.ts";

const search = (files: Record<string, string[]>, platform: NodeJS.Platform = "linux") => ({
  env: {},
  platform,
  find: (name: string) => files[name] ?? [],
});
const shim =
  "pyenv: python3.12: command not found\n\nThe `python3.12' command exists in these Python versions:\n  3.12.1";

describe("candidates", () => {
  test("the user's own python3 comes first, then versions from the newest, each at every place on PATH", () => {
    const files = {
      python3: ["/shims/python3", "/usr/bin/python3"],
      "python3.10": ["/usr/bin/python3.10"],
      "python3.13": ["/opt/python3.13"],
    };
    expect(pythonCandidates(search(files)).map(({ command }) => command)).toEqual([
      "/shims/python3",
      "/usr/bin/python3",
      "/opt/python3.13",
      "/usr/bin/python3.10",
    ]);
  });

  test("on Windows the launcher is asked for each version", () => {
    const [first] = pythonCandidates(search({ py: ["C:\\py.exe"] }, "win32"));
    expect(first).toEqual({ command: "C:\\py.exe", args: ["-3.13"] });
  });

  test("PATH is searched beyond the first hit", () => {
    const found = findOnPath("python3", { PATH: "/a:/b::/c:/b" }, "linux", (path) => path !== "/a/python3");
    expect(found).toEqual(["/b/python3", "/c/python3"]);
  });
});

describe("findPythons", () => {
  test("skips a shim that has nothing behind it and an old Python", async () => {
    const files = { python3: ["/shims/python3", "/usr/bin/python3"], "python3.11": ["/opt/python3.11"] };
    const run = fakePythons({
      "/shims/python3": shim,
      "/usr/bin/python3": { version: "3.8.10" },
      "/opt/python3.11": { version: "3.11.9" },
    });
    await expect(findPythons(search(files), run)).resolves.toEqual([
      { executable: "/opt/python3.11", version: "3.11.9" },
    ]);
  });

  test("names that lead to the same interpreter count once", async () => {
    const files = { python3: ["/usr/bin/python3"], "python3.12": ["/usr/bin/python3.12"] };
    const run = fakePythons({ "/usr/bin/python3": { executable: "/usr/bin/python3.12" }, "/usr/bin/python3.12": {} });
    await expect(findPythons(search(files), run)).resolves.toHaveLength(1);
  });

  test.each([
    [{ version: "3.14.0" }, /is 3\.14\.0, not Python 3\.10 to 3\.13/],
    [{ version: "3.9.18" }, /is 3\.9\.18, not/],
    [{ implementation: "pypy" }, /is pypy, and CPython is needed/],
    [{ wide: false }, /32-bit/],
    [{ free_threaded: true }, /without the GIL/],
    [{ missing: ["_ssl", "zlib"] }, /lacks the standard modules _ssl, zlib/],
  ])("rejects %j with the reason", async (answer, reason) => {
    const promise = findPythons(search({ python3: ["/usr/bin/python3"] }), fakePythons({ "/usr/bin/python3": answer }));
    await expect(promise).rejects.toMatchObject({
      code: "PYTHON_VERSION",
      message: expect.stringMatching(reason),
      hint: expect.stringContaining("MRLM_PYTHON"),
    });
  });

  test("without any that runs, the error lists what was looked at", async () => {
    const promise = findPythons(search({ python3: ["/shims/python3"] }), fakePythons({ "/shims/python3": shim }));
    await expect(promise).rejects.toMatchObject({
      code: "PYTHON_NOT_FOUND",
      message: expect.stringContaining("/shims/python3 does not run: pyenv:"),
    });
    await expect(findPythons(search({}), fakePythons({}))).rejects.toMatchObject({
      code: "PYTHON_NOT_FOUND",
      message: expect.stringContaining("on PATH"),
    });
  });

  test("Python 2 is too old rather than broken", async () => {
    const run = fakePythons({ "/usr/bin/python": "Unknown option: -I\nusage: /usr/bin/python [option] ..." });
    await expect(findPythons(search({ python: ["/usr/bin/python"] }), run)).rejects.toMatchObject({
      code: "PYTHON_VERSION",
    });
  });

  test("a chosen Python is the only one looked at", async () => {
    const run = fakePythons({ "/usr/bin/python3": {} });
    const promise = findPythons(search({ python3: ["/usr/bin/python3"] }), run, "/no/python");
    await expect(promise).rejects.toMatchObject({
      code: "PYTHON_NOT_FOUND",
      message: expect.stringContaining("/no/python does not run: spawn /no/python ENOENT"),
    });
  });
});
