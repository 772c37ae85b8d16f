import {
  defined,
  type SandboxLimits,
  type SandboxResult,
  type SandboxTestReport,
  type SandboxTestResult,
} from "@mrlm/spec";
import type { SandboxTest, SandboxVerdict } from "@mrlm/spec/host";
import type { Outcome } from "./pool/exchange.ts";

/** Converts an outcome to the result of a run. */
export function toResult(outcome: Outcome): SandboxResult {
  const { result, stdout, stderr, stdoutTruncated, stderrTruncated, wallMs, peakMemoryBytes } = outcome;
  const { verdict, value, shown, error, exitCode, files, cpuMs } = result;
  return {
    verdict,
    ...defined({ value, shown, error, exitCode }),
    stdout,
    stderr,
    stdoutTruncated,
    stderrTruncated,
    ...(files === undefined ? {} : { files }),
    wallMs,
    cpuMs: cpuMs ?? outcome.cpuMs,
    peakMemoryBytes: result.peakMemoryBytes ?? peakMemoryBytes,
  };
}

/** Converts an outcome to a test report. Each test has a verdict, also one that did not run because of a limit. */
export function toReport(outcome: Outcome, tests: readonly SandboxTest[], limits: SandboxLimits): SandboxTestReport {
  const { verdict } = outcome.result;
  const current = outcome.isTesting ? outcome.tests.indexOf(undefined) : -1;
  const results = tests.map(({ name }, index): SandboxTestResult => {
    const known = outcome.tests[index];
    if (known !== undefined) return { name, ...known };
    return index === current && verdict !== "ok"
      ? { name, verdict: "failed", message: whyEnded(verdict, limits) }
      : { name, verdict: "not-run" };
  });
  return { ...toResult(outcome), tests: results };
}

/** Describes the limit that ended a submission. */
function whyEnded(verdict: SandboxVerdict, limits: SandboxLimits): string {
  switch (verdict) {
    case "timeout":
      return `still running after ${limits.wallMs} ms`;
    case "cpu-limit":
      return `used more than ${limits.cpuMs} ms of processor time`;
    case "memory-limit":
      return `used more than ${Math.round(limits.memoryBytes / 1024 / 1024)} MB of memory`;
    case "killed":
      return "broke its interpreter";
    default:
      return "ended itself before the test was over";
  }
}
