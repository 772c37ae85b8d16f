import { MrlmError } from "@mrlm/spec";
import type { Check } from "./check.ts";
import { entryOf } from "./codes.ts";
import { Defect } from "./defect.ts";
import { isOpen } from "./finding.ts";
import type { PluginPart } from "./plugin-part.ts";
import { type Found, foundBy, runCheck } from "./run-check.ts";

/** Time after which a check is given up, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Progress of a check. */
export type PartEvent =
  | { readonly event: "started"; readonly subject: string; readonly check: string; readonly timeoutMs: number }
  | { readonly event: "ended"; readonly subject: string; readonly check: string; readonly seconds: number }
  /** Measurement of a check that is no finding. */
  | { readonly event: "note"; readonly subject: string; readonly check: string; readonly text: string };

/** Runs the checks of a part one after the other, and returns its findings at the end. */
export async function* checkPart(
  { subject, checks, acknowledged }: PluginPart,
  { quick = false }: { readonly quick?: boolean } = {},
): AsyncGenerator<PartEvent, Found[]> {
  const about = { subject, acknowledged };
  const found: Found[] = [];
  const own = checksOf({ checks }, quick);
  for (const [index, check] of own.entries()) {
    const { name, timeoutMs = TIMEOUT_MS } = check;
    yield { event: "started", subject, check: name, timeoutMs };
    const before = performance.now();
    // The others would wait for the same call.
    const rest = own.length - index - 1;
    const late = new Defect(
      "CHECK_TIMEOUT",
      `The check "${name}" did not end within ${timeoutMs / 1_000} s.${rest === 0 ? "" : ` The ${rest} checks after it were not made.`}`,
    );
    const notes: string[] = [];
    const running = runCheck(check, undefined, about, (text) => notes.push(text));
    const ofCheck = await within(timeoutMs, running, () => [foundBy(check, late, about)]);
    found.push(...ofCheck);
    for (const text of notes) yield { event: "note", subject, check: name, text };
    yield { event: "ended", subject, check: name, seconds: (performance.now() - before) / 1_000 };
    if (ofCheck.some(({ error }) => error === late || check.gate === true)) break;
  }
  return distinct(found);
}

/** Returns the checks of a part that run. */
export function checksOf({ checks }: Pick<PluginPart, "checks">, quick: boolean): Check<void>[] {
  return checks.filter((check) => !quick || check.quick !== false);
}

/** Removes repeated findings, and those that follow from another which is not acknowledged. */
function distinct(found: readonly Found[]): Found[] {
  const implied = new Set(found.filter(isOpen).flatMap(({ code }) => entryOf(code).implies ?? []));
  const seen = new Map<string, string>();
  const messages = new Set<string>();
  return found.filter(({ code, message, about, check, error }) => {
    // Another check, or the same check over another transport, met the same defect.
    const { once = false } = entryOf(code);
    const key = JSON.stringify([code, once ? "" : MrlmError.isInstance(error) ? message : about]);
    const first = seen.get(key) ?? check;
    const isOwn = !once && about === undefined && !MrlmError.isInstance(error);
    const isFirst = !seen.has(key) || (first === check && isOwn);
    seen.set(key, first);
    const isNew = !messages.has(`${code} ${message}`);
    messages.add(`${code} ${message}`);
    return isFirst && isNew && !implied.has(code);
  });
}

async function within<T>(timeoutMs: number, work: Promise<T>, otherwise: () => T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(otherwise()), timeoutMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
