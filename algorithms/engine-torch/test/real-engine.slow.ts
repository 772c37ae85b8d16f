import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { launchEngine } from "../src/launch/launch-engine.ts";
import { pythonDirectory } from "../src/package-directory.ts";
import { locateEngine } from "../src/setup/locate-engine.ts";
import { setupEngine } from "../src/setup/setup-engine.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const root = temporaryDirectory();
const installed = await locateEngine();
const isWritten = existsSync(join(pythonDirectory(), "mrlm_engine", "__main__.py"));
// Tests do not install the engine, because its packages are large.
const describeIf = (condition: boolean) => (condition ? describe : describe.skip);

describeIf(installed !== undefined)("the installed environment (skipped where `npm run setup` has not run)", () => {
  test("a second setup finds the installed environment and prints nothing", async () => {
    const lines: string[] = [];
    const again = await setupEngine({ progress: (line) => lines.push(line) });
    expect(again).toEqual({ ...installed, changed: false });
    expect(lines).toEqual([]);
    expect(again.versions["torch"]).toMatch(/^2\.13\.0/);
  });

  test("an interpreter of the user's own is used as it is, and refused where it lacks a package", async () => {
    const executable = installed!.executable;
    const env = { ...process.env, MRLM_CACHE: join(root, "cache"), MRLM_ENGINE_PYTHON: executable };
    await expect(setupEngine({ env })).resolves.toMatchObject({
      executable,
      changed: false,
      versions: installed!.versions,
    });
    expect(existsSync(join(root, "cache"))).toBe(false);
    const bare = setupEngine({ env: { ...env, MRLM_ENGINE_PYTHON: join(root, "no-python") } });
    await expect(bare).rejects.toMatchObject({ code: "SETUP_FAILED", message: expect.stringContaining("ENOENT") });
  });
});

describeIf(installed !== undefined && isWritten)("mrlm_engine (skipped where `npm run setup` has not run)", () => {
  test("the engine itself starts, reports its address, and exits on request", async () => {
    const engine = await launchEngine({ device: "cpu", threads: 1, logDirectory: join(root, "run") });
    expect(engine.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(engine.device).toBe("cpu");
    await engine.stop();
    await expect(engine.exited).resolves.toEqual({ code: 0, signal: null });
  }, 120_000);
});
