import { setTimeout as sleep } from "node:timers/promises";
import type { ChildResult } from "@mrlm/sandbox/child";
import type { JsonValue, SandboxError } from "@mrlm/spec";
import { isError, type Runner } from "./runner.ts";
import type { Turn } from "./turn.ts";

type Outcome = { readonly value?: JsonValue; readonly shown: string } | { readonly threw: SandboxError };

/**
 * Runs timers and promises until the top-level code has ended and nothing is pending (`loaded`), until the top-level code has ended
 * (`bound`), or until the value of the runner is settled (`result`).
 */
export async function settle(
  runner: Runner,
  { lifetime, limits }: Turn,
  what: "bound" | "loaded" | "result",
): Promise<ChildResult> {
  for (;;) {
    const { ran, nextMs, isBound = false } = runner.tick();
    const outcome = what === "result" ? runner.read("result", isOutcomeOrNone, limits.outputBytes) : undefined;
    if (outcome !== undefined)
      return "threw" in outcome
        ? { verdict: "error", error: runner.uncaught(outcome.threw).error }
        : { verdict: "ok", ...outcome };
    if (what === "bound" && isBound) return { verdict: "ok" };
    if (ran) continue;
    if (nextMs < 0) return what === "loaded" && isBound ? { verdict: "ok" } : neverSettled();
    if (nextMs > 0) await sleep(Math.min(nextMs, lifetime.leftMs));
  }
}

function isOutcomeOrNone(value: unknown): value is Outcome | undefined {
  if (value === undefined) return true;
  if (typeof value !== "object" || value === null) return false;
  return "threw" in value ? isError(value.threw) : typeof (value as { shown?: unknown }).shown === "string";
}

function neverSettled(): ChildResult {
  const message = "A promise that is waited for never settles: nothing is left that could settle it.";
  return { verdict: "error", error: { name: "Error", message, trace: `Error: ${message}` } };
}
