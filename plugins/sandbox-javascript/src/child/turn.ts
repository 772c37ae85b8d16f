import type { Answer } from "@mrlm/sandbox/child";
import type { SandboxLimits } from "@mrlm/spec";
import type { Lifetime } from "./lifetime.ts";

/** What changes from one request of a session to the next. */
export interface Turn {
  lifetime: Lifetime;
  answer: Answer;
  limits: SandboxLimits;
}
