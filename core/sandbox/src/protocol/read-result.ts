import type { JsonObject, JsonValue, SandboxError, SandboxVerdict } from "@mrlm/spec";
import type { ChildResult } from "./messages.ts";

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
    (error === undefined || isError(error)) &&
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
    ...(error === undefined ? {} : { error }),
    ...(exitCode === undefined ? {} : { exitCode: exitCode as number }),
    ...(snapshot === undefined ? {} : { snapshot }),
    ...known,
  };
}

function isError(value: JsonValue): value is JsonObject & SandboxError {
  if (!isObject(value)) return false;
  const { name, message, trace, line } = value;
  return [name, message, trace].every((text) => typeof text === "string") && (line === undefined || Number.isSafeInteger(line));
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
