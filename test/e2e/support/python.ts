import { execFileSync } from "node:child_process";
import { test } from "@jest/globals";

/** Returns a Python that has these modules: that of MRLM_TEST_PYTHON, else `python3`; `undefined` where it has not. */
export function pythonWith(...modules: readonly string[]): string | undefined {
  const python = process.env["MRLM_TEST_PYTHON"] ?? "python3";
  try {
    execFileSync(python, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
    return python;
  } catch {
    return undefined;
  }
}

/** `test` for tests that need such a Python; their names state it, and they are skipped where there is none. */
export const testWith = (python: string | undefined): typeof test | typeof test.skip =>
  python === undefined ? test.skip : test;

/** Runs a Python program and parses its output as JSON. */
export function pythonJson(python: string, program: string, ...args: readonly string[]): unknown {
  return JSON.parse(
    execFileSync(python, ["-c", program, ...args], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, HF_HUB_OFFLINE: "1" },
    }),
  );
}
