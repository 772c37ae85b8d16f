import type { SandboxResult, ToolResult } from "@mrlm/kit";
import type { SandboxLimits } from "@mrlm/kit/options";
import type { SandboxSessionEnd } from "@mrlm/kit/service";
import { durationText, memoryText } from "./amounts.ts";

/** Characters of a longer trace of an error that are kept at its start and at its end. */
const TRACE_HEAD = 1000;
const TRACE_TAIL = 3000;

const REASONS: Record<SandboxSessionEnd, string> = {
  closed: "its session was closed",
  idle: "there was no call for too long",
  yielded: "other sessions needed its place",
  limit: "a call exceeded a limit",
  exited: "its interpreter ended",
};

/** Circumstances of a call. */
export interface CallContext {
  readonly limits: SandboxLimits;
  /** Reason why the state of earlier calls was lost before this one. */
  readonly lost?: SandboxSessionEnd | undefined;
  /** Reason why this call ended its session. */
  readonly end?: SandboxSessionEnd | undefined;
}

/** Converts the result of an evaluation to a text for a policy. It has `isError` if the code failed or ended its session. */
export function resultOf(result: SandboxResult, { limits, lost, end }: CallContext): ToolResult {
  const { stdout, stderr, stdoutTruncated, stderrTruncated, shown, error } = result;
  const limit = `${limits.outputBytes / 1024} KiB`;
  const isValueCut = shown !== undefined && Buffer.byteLength(shown) >= limits.outputBytes;
  const trace = error === undefined ? "" : shortened(error.trace);
  const parts = [
    lost === undefined
      ? ""
      : `[The state of earlier calls was lost: ${REASONS[lost]}. Variables, imports and new files are gone.]`,
    ended(stdout),
    stdoutTruncated ? `[stdout was cut after ${limit}]` : "",
    stderr === "" ? "" : `stderr:\n${ended(stderr)}`,
    stderrTruncated ? `[stderr was cut after ${limit}]` : "",
    shown ?? "",
    isValueCut ? `[the value was cut after ${limit}]` : "",
    trace,
    endingOf(result, limits, end),
  ].filter((part) => part !== "");
  const isCut = stdoutTruncated || stderrTruncated || isValueCut || (error !== undefined && trace !== error.trace);
  const text = parts.length > 0 ? parts.join("\n") : "(no output)";
  return {
    content: [{ type: "text", text }],
    isError: result.verdict !== "ok" || end !== undefined,
    ...(isCut ? { truncated: true } : {}),
  };
}

/** Describes the end of a call at a limit, or that ended its session. */
function endingOf(
  { verdict, exitCode }: SandboxResult,
  limits: SandboxLimits,
  end: SandboxSessionEnd | undefined,
): string {
  const fact = {
    ok: exitCode === undefined ? "" : "The code exited.",
    error: "",
    timeout: `The code was stopped after ${durationText(limits.wallMs)}, the longest time of a call.`,
    "cpu-limit": `The code was stopped after ${durationText(limits.cpuMs)} of processor time, the limit of a call.`,
    "memory-limit": `The code was stopped: it needs more than ${memoryText(limits.memoryBytes)} of memory.`,
    killed: "The code broke the interpreter.",
  }[verdict];
  const loss =
    end === undefined
      ? ""
      : "The session has ended: variables, imports and new files are lost. The next call starts a new session.";
  const text = [fact, loss].filter((part) => part !== "").join(" ");
  return text === "" ? "" : `[${text}]`;
}

/** Returns a text without the line break at its end. */
function ended(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Leaves out the middle of a long trace. */
function shortened(trace: string): string {
  if (trace.length <= TRACE_HEAD + TRACE_TAIL) return trace;
  const left = trace.length - TRACE_HEAD - TRACE_TAIL;
  return `${trace.slice(0, TRACE_HEAD)}\n[${left} characters left out]\n${trace.slice(-TRACE_TAIL)}`;
}
