import type { Sandbox } from "@mrlm/spec";
import type { Check } from "../check/check.ts";
import type { SandboxPrograms } from "./programs.ts";

/** Sandbox under check. */
export interface SandboxSubject {
  readonly sandbox: Sandbox;
  readonly programs: SandboxPrograms;
}

/** Check of one property of a sandbox. */
export type SandboxCheck = Check<SandboxSubject>;
