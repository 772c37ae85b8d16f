import type { Subject } from "./subject.ts";

/** One thing that every environment must do. */
export interface Check {
  readonly name: string;
  run(subject: Subject): Promise<void>;
}
