import { MrlmError } from "@mrlm/spec";
import type { ProcessEnd } from "./plugin-process.ts";
import type { Printed } from "./printed-output.ts";

/** Fault of a plugin: the reason for which it cannot be used, or its side effect. */
export interface PluginFault {
  /** Code of an error or of a finding. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

/** Describes an error of a plugin. */
export function faultOf(error: unknown): PluginFault {
  if (MrlmError.isInstance(error)) return { code: error.code, message: error.message, hint: error.hint };
  return { code: "PLUGIN_LOAD_FAILED", message: error instanceof Error ? error.message : String(error) };
}

/** Describes how the process of a plugin ended before its work did. `during` names that work: `its import`. */
export function faultOfEnd({ kind, exitCode, signal }: ProcessEnd, during: string): PluginFault {
  if (kind === "silent")
    return {
      code: "PLUGIN_BLOCKED",
      message: `The process was killed, because ${during} did not end in time.`,
      hint: "Look for an endless loop, a call that waits, or an `await` at the top of a module whose promise never settles.",
    };
  const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
  return {
    code: "PROCESS_ENDED",
    message: `The process ended ${how} during ${during}.`,
    hint: "A plugin never calls process.exit(): it throws an error, or returns an unscored reward.",
  };
}

const MAX_PRINTED = 64 * 1_024;

/** Describes output of more than a few lines; `undefined` if it is little. */
export function faultOfOutput({ bytes, head }: Printed): PluginFault | undefined {
  if (bytes <= MAX_PRINTED) return undefined;
  const size = bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${Math.round(bytes / 1_024)} KiB`;
  return {
    code: "OUTPUT_EXCESSIVE",
    message: `It printed ${size}, beginning with ${JSON.stringify(head.slice(0, 60))}.`,
    hint: "Write to `context.logger`, which the operator can silence.",
  };
}
