import { type ErrorCode, MrlmError } from "@mrlm/spec";

/** Codes of resets that may fail because of the server: a withdrawn environment, a broken sandbox, a full disk. */
const FAULTS: readonly ErrorCode[] = ["DEADLINE_EXCEEDED", "ENVIRONMENT_FAILED", "INTERNAL", "SANDBOX_FAILED"];
/** Resets of an environment that fail one after the other before its other servers are preferred. */
const MAX_FAULTS = 3;
/** Time until one reset tries the server again, in milliseconds. */
const AVOIDED_MS = 30_000;

/**
 * Environments whose resets fail on one server. A session that fails at once leaves its place free, so that without this the server would
 * get most of the episodes.
 */
export class ResetFaults {
  readonly #faults = new Map<string, { count: number; avoidedUntil: number }>();

  isAvoided(environment: string): boolean {
    const known = this.#faults.get(environment);
    return known !== undefined && known.count >= MAX_FAULTS && performance.now() < known.avoidedUntil;
  }

  /** Makes a reset and notes its outcome. */
  async watch<T>(environment: string, reset: () => Promise<T>): Promise<T> {
    const known = this.#faults.get(environment);
    // This reset is the trial. The others wait for its outcome elsewhere.
    if (known !== undefined) known.avoidedUntil = performance.now() + AVOIDED_MS;
    try {
      const result = await reset();
      this.#faults.delete(environment);
      return result;
    } catch (error) {
      if (MrlmError.hasCode(error, ...FAULTS)) {
        const count = (this.#faults.get(environment)?.count ?? 0) + 1;
        this.#faults.set(environment, { count, avoidedUntil: performance.now() + AVOIDED_MS });
      }
      throw error;
    }
  }
}
