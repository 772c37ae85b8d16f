import type { Sandbox } from "@mrlm/spec";
import type { SandboxPrograms } from "./programs.ts";

/** A sandbox under test. */
export interface SandboxSubject {
  readonly sandbox: Sandbox;
  readonly programs: SandboxPrograms;
}

/** One thing that every sandbox must do. */
export interface SandboxCheck {
  readonly name: string;
  run(subject: SandboxSubject): Promise<void>;
}
