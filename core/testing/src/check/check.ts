import type { FindingCode } from "./codes.ts";
import type { Defect } from "./defect.ts";

/** Check of one property of a subject, such as an environment over one transport. */
export interface Check<Subject> {
  /** Code of the finding for anything but a {@link Defect} that `run` throws. */
  readonly code: FindingCode;
  /** Unique among the checks of a subject; name of its test. */
  readonly name: string;
  /** `false` for a check that takes more than about half a second: `mrlm check --quick` and the contract suites leave it out. Default true. */
  readonly quick?: boolean;
  /** Text of the author's source near the checked part, such as a fixture's name. */
  readonly about?: string;
  /** If it finds a defect, the later checks of the same subject would find nothing but that defect: they do not run. */
  readonly gate?: boolean;
  /** Time after which the check is given up, in milliseconds; default 30,000. */
  readonly timeoutMs?: number;
  /**
   * Throws or returns what is wrong. Whatever else it throws, such as an assertion, is a finding of `code`.
   * @param note reports a measurement that is no finding
   */
  run(subject: Subject, note?: (text: string) => void): Promise<void | readonly Defect[]>;
}
