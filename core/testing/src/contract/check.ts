import type { Subject } from "./subject.ts";

/** Test that every environment must pass. */
export interface Check {
  readonly name: string;
  run(subject: Subject): Promise<void>;
}
