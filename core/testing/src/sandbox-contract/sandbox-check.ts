import type { Sandbox } from "@mrlm/spec";
import type { SandboxPrograms } from "./programs.ts";

/** Sandbox under test. */
export interface SandboxSubject {
  readonly sandbox: Sandbox;
  readonly programs: SandboxPrograms;
}

/** Check of one property that every sandbox must have. */
export interface SandboxCheck {
  readonly name: string;
  run(subject: SandboxSubject): Promise<void>;
}
