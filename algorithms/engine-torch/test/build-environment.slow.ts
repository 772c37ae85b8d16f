import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, jest, test } from "@jest/globals";
import { executableOf, pipRunner, readStamp, type RunPip, type RunProcess, runProcess } from "@mrlm/process/python";
import { buildEnvironment, type EnvironmentPlan } from "../src/setup/build-environment.ts";
import { type Extra, lockFiles } from "../src/setup/lock-files.ts";
import { LOCKED } from "../src/torch/torch-build.ts";
import { machinePython } from "./support/python.ts";
import { pythonWithoutEnsurepip } from "./support/python-without-ensurepip.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { makeWheel, writeLocks } from "./support/wheels.ts";

// pip takes some seconds to start from its wheel, and more where the machine is busy.
jest.setTimeout(120_000);

// The layout of an installation without ensurepip is known for Linux only.
const describeOnLinux = process.platform === "linux" && machinePython !== undefined ? describe : describe.skip;

describeOnLinux("an environment of a Python that has no ensurepip", () => {
  const root = temporaryDirectory();
  const wheels = join(root, "wheels");
  const env = {
    ...process.env,
    PIP_NO_INDEX: "1",
    PIP_FIND_LINKS: wheels,
    PIP_CONFIG_FILE: "/dev/null",
    PIP_CACHE_DIR: join(root, "pip"),
    PIP_USER: "1",
  };
  const realPip = pipRunner(runProcess, env);
  let count = 0;

  /** Returns a fresh place, with lock files of one local wheel each. */
  async function prepare(extras: readonly Extra[] = []): Promise<EnvironmentPlan> {
    count += 1;
    const python = await pythonWithoutEnsurepip(machinePython!, join(root, `python-${count}`));
    const locks = join(root, `locks-${count}`);
    const make = (name: string): Promise<string> => makeWheel(python.executable, wheels, name);
    writeLocks(locks, { torch: await make("faketorch"), base: await make("fakebase"), dev: await make("fakedev") });
    return {
      directory: join(root, `cache ${count}`, "environment"),
      python,
      build: LOCKED,
      extras,
      lock: lockFiles(locks),
      expectsGpu: false,
    };
  }
  const tools = (pip: RunPip, lines: string[] = [], run: RunProcess = runProcess) => ({
    run,
    pip,
    progress: (line: string) => void lines.push(line),
    verify: async () => ({ versions: { torch: "2.13.0" }, cuda: false }),
  });
  const fakePip: RunPip = async () => ({ code: 0, signal: null, stdout: "", stderr: "" });
  const imports = async (directory: string, names: string): Promise<boolean> =>
    (await runProcess(executableOf(directory), ["-I", "-c", `import ${names}`])).code === 0;

  test("is made without a network from local wheels, found unchanged without starting anything, and an extra is added to it", async () => {
    const plan = await prepare();
    expect(existsSync(join(root, "python-1", "lib", "ensurepip"))).toBe(false);
    const lines: string[] = [];
    const first = await buildEnvironment(plan, tools(realPip, lines));
    expect(first).toMatchObject({ changed: true, stamp: { extras: [], versions: { torch: "2.13.0" } } });
    await expect(imports(plan.directory, "faketorch, fakebase")).resolves.toBe(true);
    await expect(imports(plan.directory, "fakedev")).resolves.toBe(false);
    expect(lines.join("\n")).toMatch(
      /making an environment.*installing torch 2\.13\.0.*installing transformers.*checking/s,
    );

    const refuse = () => Promise.reject(new Error("a process was started"));
    await expect(buildEnvironment(plan, tools(refuse, [], refuse))).resolves.toEqual({
      changed: false,
      stamp: first.stamp,
    });

    lines.length = 0;
    const added = await buildEnvironment({ ...plan, extras: ["dev"] }, tools(realPip, lines));
    expect(added).toMatchObject({ changed: true, stamp: { extras: ["dev"] } });
    expect(lines.join("\n")).not.toMatch(/making an environment|installing torch/);
    await expect(imports(plan.directory, "fakedev, faketorch")).resolves.toBe(true);
    await expect(buildEnvironment(plan, tools(refuse))).resolves.toMatchObject({
      changed: false,
      stamp: { extras: ["dev"] },
    });
  });

  test("that a stopped setup left half made is removed and made anew", async () => {
    const plan = await prepare();
    mkdirSync(join(plan.directory, "bin"), { recursive: true });
    writeFileSync(join(plan.directory, "bin", "half"), "");
    const lines: string[] = [];
    await expect(buildEnvironment(plan, tools(fakePip, lines))).resolves.toMatchObject({ changed: true });
    expect(lines[0]).toContain("removing an unfinished environment");
    expect(existsSync(join(plan.directory, "bin", "half"))).toBe(false);
  });

  test("is made by one of two setups at once, while the other waits", async () => {
    const plan = await prepare();
    const lines: string[] = [];
    const outcomes = await Promise.all([
      buildEnvironment(plan, tools(fakePip, lines)),
      buildEnvironment(plan, tools(fakePip, lines)),
    ]);
    expect(outcomes.map(({ changed }) => changed).toSorted()).toEqual([false, true]);
    expect(lines).toContain("another setup is at work on the same environment; waiting for it");
  });

  test("that could not be finished is reported with what is missing and the log, and the next setup repairs it", async () => {
    const plan = await prepare();
    rmSync(join(wheels, "fakebase-1.0-py3-none-any.whl"));
    const message = expect.stringMatching(/has no wheel for this Python.*fakebase==1\.0.*Log: /s);
    await expect(buildEnvironment(plan, tools(realPip))).rejects.toMatchObject({
      code: "SETUP_DOWNLOAD_FAILED",
      message,
    });
    expect(readFileSync(`${plan.directory}.log`, "utf8")).toContain("faketorch");
    expect(readStamp(plan.directory)).toBeUndefined();
    await expect(buildEnvironment(plan, tools(fakePip))).resolves.toMatchObject({ changed: true });
  });

  test("whose interpreter has gone counts as none", async () => {
    const plan = await prepare();
    await buildEnvironment(plan, tools(fakePip));
    expect(readStamp(plan.directory)).toBeDefined();
    rmSync(plan.python.executable);
    expect(readStamp(plan.directory)).toBeUndefined();
  });

  test("with a build of torch that cannot use the machine's GPU is finished with a warning", async () => {
    const lines: string[] = [];
    await buildEnvironment({ ...(await prepare()), expectsGpu: true }, tools(fakePip, lines));
    expect(lines.at(-1)).toMatch(/torch 2\.13\.0 cannot use this machine's GPU/);
  });
});
