import type { Check } from "../check/check.ts";
import type { Subject } from "./subject.ts";

/** Check of one property of an environment. */
export type EnvironmentCheck = Check<Subject>;
