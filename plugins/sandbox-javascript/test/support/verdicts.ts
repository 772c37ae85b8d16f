import type { Sandbox } from "@mrlm/spec";

/** Runs tests of `code`, whose functions are `names`. Returns `passed` or the message of each. */
export function verdictsOf(
  sandbox: Sandbox,
): (code: string, names: readonly string[], tests: readonly string[], harness?: string) => Promise<string[]> {
  return async (code, names, tests, harness = "") => {
    const suite = {
      entryPoints: [...names],
      harness,
      tests: tests.map((test, index) => ({ name: `${index}`, code: test })),
    };
    const report = await sandbox.test({ code }, suite);
    return report.tests.map(({ verdict, message }) => (verdict === "passed" ? verdict : (message ?? verdict)));
  };
}
