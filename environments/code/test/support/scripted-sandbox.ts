import type { Sandbox, SandboxResult } from "@mrlm/kit";
import type { SandboxTestReport } from "@mrlm/kit/service";
import type { SandboxTestSuite, Submission } from "@mrlm/spec/host";

const QUIET: SandboxResult = {
  verdict: "ok",
  stdout: "",
  stderr: "",
  stdoutTruncated: false,
  stderrTruncated: false,
  wallMs: 1,
  cpuMs: 1,
  peakMemoryBytes: 0,
};

/** Results of a scripted sandbox. */
export interface Script {
  test?(submission: Submission, suite: SandboxTestSuite): Partial<SandboxTestReport>;
  run?(submission: Submission): Partial<SandboxResult>;
}

/** Returns a sandbox that runs nothing: it returns scripted results and records its calls. */
export function scriptedSandbox(
  script: Script,
): Sandbox & { readonly submissions: Submission[]; readonly suites: SandboxTestSuite[] } {
  const submissions: Submission[] = [];
  const suites: SandboxTestSuite[] = [];
  return {
    submissions,
    suites,
    language: "scripted",
    limits: { wallMs: 1_000, cpuMs: 1_000, memoryBytes: 2 ** 24, outputBytes: 1_000 },
    async run(submission) {
      submissions.push(submission);
      return { ...QUIET, ...script.run?.(submission) };
    },
    async test(submission, suite) {
      submissions.push(submission);
      suites.push(suite);
      const tests = suite.tests.map(({ name }) => ({ name, verdict: "failed" as const }));
      return { ...QUIET, tests, ...script.test?.(submission, suite) };
    },
    session: () => Promise.reject(new Error("no sessions")),
    warm: async () => undefined,
    layers: async () => ({ kind: "scripted", language: "scripted", active: [], missing: [], jailed: false }),
    close: async () => undefined,
  };
}
