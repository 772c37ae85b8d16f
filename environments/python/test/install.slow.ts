import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, jest } from "@jest/globals";
import { runProcess } from "@mrlm/process/python";
import { interpreterOf } from "../src/python-set.ts";
import { interpreter, pythonTest as test } from "./support/python.ts";

// pip takes some seconds to start from its wheel, and more where the machine is busy.
jest.setTimeout(120_000);

const root = mkdtempSync(join(tmpdir(), "mrlm-python-"));
const wheels = join(root, "wheels");
const variables = {
  MRLM_CACHE: join(root, "cache"),
  PIP_NO_INDEX: "1",
  PIP_FIND_LINKS: wheels,
  PIP_CONFIG_FILE: "/dev/null",
  PIP_CACHE_DIR: join(root, "pip"),
};
const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
mkdirSync(wheels);
Object.assign(process.env, variables);
afterAll(() => {
  for (const [name, value] of Object.entries(before))
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

/** Writes a wheel with one module. */
const WHEEL = `
import sys, zipfile
folder, version, start = sys.argv[1:]
info = f"tiny_environment-{version}.dist-info"
with zipfile.ZipFile(f"{folder}/tiny_environment-{version}-py3-none-any.whl", "w") as wheel:
    wheel.writestr("tiny_environment.py", f"VERSION = {version!r}\\n")
    if start:
        wheel.writestr("tiny_environment.pth", start)
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: tiny-environment\\nVersion: {version}\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
`;
const makeWheel = async (version: string, start = ""): Promise<void> =>
  void (await runProcess(interpreter as string, ["-c", WHEEL, wheels, version, start]));
const versionIn = async (executable: string): Promise<string> =>
  (
    await runProcess(executable, ["-I", "-c", "import tiny_environment; print(tiny_environment.VERSION)"])
  ).stdout.trim();

describe("the packages of an environment", () => {
  test("are installed once for a set of pins, also by two callers, and apart from another set", async () => {
    await Promise.all([makeWheel("1.0"), makeWheel("2.0")]);
    const lines: string[] = [];
    const install = (version: string): Promise<string> =>
      interpreterOf([`tiny-environment==${version}`], (line) => void lines.push(line));
    const [one, same] = await Promise.all([install("1.0"), install("1.0")]);
    expect(same).toBe(one);
    expect(lines.filter((line) => line.startsWith("making"))).toHaveLength(1);
    const other = await install("2.0");
    expect([await versionIn(one as string), await versionIn(other)]).toEqual(["1.0", "2.0"]);
    lines.length = 0;
    rmSync(join(wheels, "tiny_environment-1.0-py3-none-any.whl"));
    expect(await install("1.0")).toBe(one);
    expect(lines).toEqual([]);
    const stamp = JSON.parse(readFileSync(join(one as string, "../../mrlm-environment.json"), "utf8")) as object;
    expect(stamp).toMatchObject({ versions: { "tiny-environment": "1.0" } });
  });

  test("that cannot be found are named, with the log, and the next set-up begins anew", async () => {
    const install = (): Promise<string> => interpreterOf(["tiny-environment==3.0"], () => undefined);
    await expect(install()).rejects.toMatchObject({
      code: "SETUP_DOWNLOAD_FAILED",
      message: expect.stringMatching(/Installing tiny-environment==3\.0 failed.*Log: /s),
    });
    await makeWheel("3.0");
    expect(await versionIn(await install())).toBe("3.0");
  });

  test("with which Python cannot start are refused with its code and output", async () => {
    await makeWheel("4.0", 'import os; os.write(2, b"no licence found"); os._exit(3)\n');
    await expect(interpreterOf(["tiny-environment==4.0"], () => undefined)).rejects.toMatchObject({
      code: "SETUP_FAILED",
      message: expect.stringMatching(/tiny-environment==4\.0 .* ended with code 3 .*\nno licence found/s),
    });
  });
});
