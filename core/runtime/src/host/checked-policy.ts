import { type Action, MrlmError, type OpenPolicy } from "@mrlm/spec";
import { quoted } from "../names/nearest.ts";
import { describeThrown } from "../plugins/error-location.ts";
import { validateResult } from "./validate-result.ts";

/** Guard of the policies of one author. */
export interface PolicyGuard {
  /** Creates the error for a fault: `returned ...`, `threw in act: ...`. */
  failed(fault: string, cause?: unknown): MrlmError;
  /** Calls the author's code under a deadline. */
  run<T>(signal: AbortSignal, work: (signal: AbortSignal) => T | Promise<T>): Promise<T>;
}

/** Wraps a policy so that its actions are validated. An error that is not an MrlmError becomes one of the guard. */
export function checkedPolicy(policy: OpenPolicy, { failed, run }: PolicyGuard): OpenPolicy {
  if (typeof policy?.act !== "function") throw failed("has no act()");
  return {
    async act(observation, given) {
      const returned = await run(given.signal, (signal) => policy.act(observation, { signal })).catch(
        (error: unknown) => {
          throw thrownBy("act", error, failed);
        },
      );
      const checked = validateResult<Action>("action", returned);
      if ("problem" in checked) throw failed(`returned something malformed from act: ${checked.problem}`);
      if (checked.value.agent !== observation.agent)
        throw failed(`acted as ${quoted(checked.value.agent)} while it was ${quoted(observation.agent)}'s turn`);
      if (checked.value.finishReason === "exhausted")
        throw failed("returned the finish reason exhausted, which only the host states");
      return checked.value;
    },
    close: () => run(new AbortController().signal, async () => policy.close?.()),
  };
}

/** Returns the error of a call of the author's code: an MrlmError as it is. */
export function thrownBy(call: string, error: unknown, failed: PolicyGuard["failed"]): unknown {
  return MrlmError.isInstance(error) ? error : failed(`threw in ${call}: ${describeThrown(error)}`, error);
}
