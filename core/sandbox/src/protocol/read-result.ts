import type { JsonObject, JsonValue, SandboxError, SandboxTestResult, SandboxVerdict } from "@mrlm/spec";
import type { ChildResult } from "./messages.ts";

/** Characters of an error's parts. */
const LONGEST = { name: 200, message: 10_000, trace: 40_000 };
const VERDICTS: readonly SandboxVerdict[] = ["ok", "error", "timeout", "cpu-limit", "memory-limit", "killed"];

/**
 * How a submission ended, as a child tells it. Some of that the submission says itself (its value, its error), by means that it may have changed: what
 * is not of the right form is its doing, and means that it has broken its interpreter.
 */
export function readResult(told: JsonValue | undefined): ChildResult {
  if (!isObject(told)) return { verdict: "killed" };
  const { verdict, value, shown, error, exitCode, cpuMs, peakMemoryBytes, snapshot, spent } = told;
  const isWell =
    VERDICTS.includes(verdict as SandboxVerdict) &&
    (shown === undefined || typeof shown === "string") &&
    (error === undefined || readError(error) !== undefined) &&
    (exitCode === undefined || Number.isSafeInteger(exitCode)) &&
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
    ...(snapshot === undefined ? {} : { snapshot }),
    ...known,
  };
}

/** The verdict on a test, as a child tells it; an error or a message of another form is left out. */
export function readTested(told: JsonValue | undefined): Omit<SandboxTestResult, "name"> {
  const { verdict, message, error: described } = isObject(told) ? told : {};
  if (verdict === "passed") return { verdict };
  const error = readError(described);
  return {
    verdict: "failed",
    ...(typeof message === "string" ? { message: cut(message, LONGEST.message) } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

/** What a submission raised, no longer than people read; `undefined` if it is of another form. */
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

/** A copy: a part of a text would keep all of it in memory. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest)).toString();
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
