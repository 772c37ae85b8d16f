import type { ChildResult } from "@mrlm/sandbox/child";

/** Thrown through everything when a submission is over before its code is: at its deadline, at its memory limit, or because it said so. */
export class Ended extends Error {
  readonly result: ChildResult;

  constructor(result: ChildResult) {
    super(result.verdict);
    this.result = result;
  }
}
