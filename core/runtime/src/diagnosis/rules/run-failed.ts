import type { Finding } from "../finding.ts";
import type { RunRecord } from "../run-record.ts";

/** Reports the error that ended the run. */
export function runFailed({ status, error }: RunRecord): Finding[] {
  if (status !== "failed") return [];
  const { code, message, hint } = error ?? {};
  const what =
    message === undefined
      ? "The run failed; run.json has no reason."
      : `The run failed with ${code === undefined ? "" : `${code}: `}${message}`;
  return [
    {
      rule: "run-failed",
      severity: "problem",
      what,
      advice: hint ?? "Read engine.log and train.log in the run's directory.",
    },
  ];
}
