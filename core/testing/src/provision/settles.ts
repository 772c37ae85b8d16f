import { Defect } from "../check/defect.ts";

/** Longest end of a call after its signal was aborted, in milliseconds. */
const ABORT_MS = 5_000;

/**
 * Requires that work settles within 5 s, and returns whether it was fulfilled.
 * @param what the work in the finding
 * @param about name of the called function: one finding for each
 */
export async function settles(what: string, work: Promise<unknown>, about?: string): Promise<boolean> {
  const settled = work.then(
    () => true,
    () => false,
  );
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ABORT_MS);
  try {
    const outcome = await Promise.race([settled, late]);
    if (outcome === undefined)
      throw new Defect("CALL_ABORT_IGNORED", `${what} did not end within 5 s.`, about === undefined ? {} : { about });
    return outcome;
  } finally {
    clearTimeout(timer);
  }
}
