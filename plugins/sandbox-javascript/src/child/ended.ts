import type { ChildResult } from "@mrlm/sandbox/child";

/** Thrown when a submission ends before its code: at its deadline, at its memory limit, or by `process.exit`. */
export class Ended extends Error {
  readonly result: ChildResult;

  constructor(result: ChildResult) {
    super(result.verdict);
    this.result = result;
  }
}
