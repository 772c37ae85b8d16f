import type { Logger } from "@mrlm/spec";

/** Time in milliseconds after which a call that has not ended is reported. */
const SLOW_MS = 15_000;
/** Interval at which the calls under way are looked at, in milliseconds. */
const CHECK_MS = 1_000;

/** Call of an environment. */
export interface EnvironmentCall {
  readonly environment: string;
  readonly task: string;
  readonly phase: "reset" | "step";
  /** Receives the report, a warning. */
  readonly logger: Logger;
}

/** Calls under way that were not reported, with their begin in milliseconds. One timer serves all of them: a timer for each would cost more than most steps. */
const underWay = new Map<EnvironmentCall, number>();
let timer: NodeJS.Timeout | undefined;

/** Runs a call of an environment. One that takes longer than 15 s is reported once, with environment, task and phase. */
export async function reportingSlow<T>(call: EnvironmentCall, work: () => Promise<T>): Promise<T> {
  underWay.set(call, performance.now());
  timer ??= setInterval(report, CHECK_MS).unref();
  try {
    return await work();
  } finally {
    underWay.delete(call);
    if (underWay.size === 0) timer = void clearInterval(timer);
  }
}

/** Reports the calls that have become slow: in one line for each environment and phase. */
function report(): void {
  const now = performance.now();
  const slow = [...underWay].filter(([, began]) => now - began >= SLOW_MS).map(([call]) => call);
  for (const call of slow) underWay.delete(call);
  for (const calls of Map.groupBy(slow, ({ environment, phase }) => `${phase} ${environment}`).values()) {
    const [{ environment, task, phase, logger }] = calls as [EnvironmentCall];
    const others = calls.length > 1 ? `, and ${calls.length - 1} more` : "";
    logger.warn(
      `Environment ${environment} has worked for ${SLOW_MS / 1000} s on the ${phase} of task ${task}${others}. The ${phase} continues.`,
    );
  }
}
