import type { Answer } from "@mrlm/sandbox/child";
import type { SandboxLimits } from "@mrlm/spec";
import type { Lifetime } from "./lifetime.ts";

/** Data that differs between the requests of a session. */
export interface Turn {
  lifetime: Lifetime;
  answer: Answer;
  limits: SandboxLimits;
}
