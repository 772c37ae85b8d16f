// Children import this module: only types come from another package.
import type { JsonObject, JsonValue, SandboxError, SandboxTestResult } from "@mrlm/spec";
import type { SandboxVerdict } from "@mrlm/spec/host";
import type { ChildResult } from "./messages.ts";

/** Maximum characters of the parts of an error. */
const LONGEST = { name: 200, message: 10_000, trace: 40_000 };
const VERDICTS: readonly SandboxVerdict[] = ["ok", "error", "timeout", "cpu-limit", "memory-limit", "killed"];

/**
 * Reads the result of a submission. The submission may have written parts of it (value, error), with functions that it changed. A malformed
 * result means that the submission broke its interpreter.
 */
export function readResult(reported: JsonValue | undefined): ChildResult {
  if (!isObject(reported)) return { verdict: "killed" };
  const { verdict, value, shown, error, exitCode, files, cpuMs, peakMemoryBytes, snapshot, spent } = reported;
  const isWell =
    VERDICTS.includes(verdict as SandboxVerdict) &&
    (shown === undefined || typeof shown === "string") &&
    (error === undefined || readError(error) !== undefined) &&
    (exitCode === undefined || Number.isSafeInteger(exitCode)) &&
    (files === undefined || isFiles(files)) &&
    (snapshot === undefined || typeof snapshot === "string");
  const known = {
    ...(typeof cpuMs === "number" && cpuMs >= 0 ? { cpuMs } : {}),
    ...(typeof peakMemoryBytes === "number" && peakMemoryBytes >= 0 ? { peakMemoryBytes } : {}),
    ...(spent === true ? { spent } : {}),
  };
  if (!isWell) return { verdict: "killed", ...known };
  return {
    verdict: verdict as SandboxVerdict,
    ...(value === undefined ? {} : { value }),
    ...(shown === undefined ? {} : { shown }),
    ...(error === undefined ? {} : { error: readError(error) as SandboxError }),
    ...(exitCode === undefined ? {} : { exitCode: exitCode as number }),
    ...(files === undefined ? {} : { files }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...known,
  };
}

/** Reads the verdict of a test; leaves out a malformed error or message. */
export function readTested(reported: JsonValue | undefined): Omit<SandboxTestResult, "name"> {
  const { verdict, message, error: described } = isObject(reported) ? reported : {};
  if (verdict === "passed") return { verdict };
  const error = readError(described);
  return {
    verdict: "failed",
    ...(typeof message === "string" ? { message: cut(message, LONGEST.message) } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/** Reads an error, with limited length; `undefined` if it is malformed. */
function readError(value: JsonValue | undefined): SandboxError | undefined {
  if (!isObject(value)) return undefined;
  const { name, message, trace, line } = value;
  if (
    typeof name !== "string" ||
    typeof message !== "string" ||
    typeof trace !== "string" ||
    (line !== undefined && !Number.isSafeInteger(line))
  )
    return undefined;
  return {
    name: cut(name, LONGEST.name),
    message: cut(message, LONGEST.message),
    trace: cut(trace, LONGEST.trace),
    ...(line === undefined ? {} : { line: line as number }),
  };
}

/** Copies the start of a text: a slice would keep the whole text in memory. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest)).toString();
}

/** Whether a value is an object of texts in base64. */
function isFiles(value: JsonValue): value is Record<string, string> {
  return (
    isObject(value) &&
    Object.values(value).every((content) => typeof content === "string" && /^[A-Za-z0-9+/]*={0,2}$/.test(content))
  );
}

// Not that of @mrlm/spec: the sandbox's child imports this module, and has no package but its own.
function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
