import { type GradingOptions, MrlmError } from "@mrlm/spec";
import { enterPhase, leavePhase, sessionTracking } from "./phase-beacon.ts";
import type { Deadlines, Phase } from "./deadlines.ts";

/**
 * Runs an environment's phases against their deadlines. Grading within a step counts against the deadline of scoring and not
 * against the step's own: the step's clock is paused meanwhile.
 */
export class PhaseClock {
  readonly #environment: string;
  readonly #deadlines: Deadlines;
  readonly #session: string;
  #running: { readonly countdown: Countdown; readonly signal: AbortSignal } | undefined;

  /** @param session name of the session in reports */
  constructor(environment: string, deadlines: Deadlines, session = "") {
    this.#session = session;
    this.#environment = environment;
    this.#deadlines = deadlines;
  }

  /**
   * Runs a phase. Rejects with DEADLINE_EXCEEDED after its deadline and with CANCELLED if the caller aborts. In both cases the signal of the work is aborted,
   * and its later results are ignored.
   */
  async run<T>(
    phase: Phase,
    callers: readonly AbortSignal[],
    work: (signal: AbortSignal) => T | Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    stopped.catch(() => undefined);
    const stop = (error: MrlmError): void => {
      reject(error);
      controller.abort(error);
    };
    const limit = this.#deadlines[phase];
    const countdown = new Countdown(limit, () =>
      stop(
        new MrlmError(
          "DEADLINE_EXCEEDED",
          `Environment ${this.#environment} took longer than ${limit} ms in its ${phase} phase.`,
        ),
      ),
    );
    // Listeners instead of AbortSignal.any, which costs more than the rest of a step's bookkeeping.
    const onAbort = (): void =>
      stop(
        new MrlmError("CANCELLED", `The ${phase} phase of environment ${this.#environment} was given up.`, {
          cause: callers.find(({ aborted }) => aborted)?.reason,
        }),
      );
    if (callers.some(({ aborted }) => aborted)) onAbort();
    for (const caller of callers) caller.addEventListener("abort", onAbort, { once: true });
    this.#running = { countdown, signal: controller.signal };
    enterPhase(this.#environment, phase, limit);
    try {
      if (controller.signal.aborted) return await stopped;
      const tracked = async (): Promise<T> => work(controller.signal);
      const { tracker } = sessionTracking;
      return await Promise.race([
        tracker === undefined
          ? tracked()
          : tracker({ environment: this.#environment, session: this.#session, phase }, tracked),
        stopped,
      ]);
    } finally {
      leavePhase();
      countdown.stop();
      this.#running = undefined;
      for (const caller of callers) caller.removeEventListener("abort", onAbort);
    }
  }

  /** Waits while the clock of the running phase is paused. */
  async paused<T>(wait: () => Promise<T>): Promise<T> {
    return await pausing(this.#running?.countdown, wait);
  }

  /**
   * Runs the grading of a scorer or judge under the deadline of scoring. Rejects with DEADLINE_EXCEEDED after it, and with CANCELLED when the caller or the
   * running phase is aborted. In these cases the signal of the work is aborted, and its later results are ignored. The deadline is paused while the work
   * waits in a queue.
   */
  async score<T>(caller: AbortSignal | undefined, work: (options: GradingOptions) => Promise<T>): Promise<T> {
    const limit = this.#deadlines.score;
    const controller = new AbortController();
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    stopped.catch(() => undefined);
    const stop = (error: MrlmError): void => {
      reject(error);
      controller.abort(error);
    };
    const countdown = new Countdown(limit, () =>
      stop(
        new MrlmError("DEADLINE_EXCEEDED", `Scoring in environment ${this.#environment} took longer than ${limit} ms.`),
      ),
    );
    const callers = new Set([caller, this.#running?.signal].filter((each) => each !== undefined));
    const onAbort = (): void =>
      stop(new MrlmError("CANCELLED", `Scoring in environment ${this.#environment} was given up.`));
    for (const each of callers) each.addEventListener("abort", onAbort, { once: true });
    if ([...callers].some(({ aborted }) => aborted)) onAbort();
    try {
      if (controller.signal.aborted) return await stopped;
      const queued = async <R>(wait: () => Promise<R>): Promise<R> => await pausing(countdown, wait);
      return await this.paused(() => Promise.race([work({ signal: controller.signal, queued }), stopped]));
    } finally {
      countdown.stop();
      for (const each of callers) each.removeEventListener("abort", onAbort);
    }
  }
}

async function pausing<T>(countdown: Countdown | undefined, wait: () => Promise<T>): Promise<T> {
  countdown?.pause();
  try {
    return await wait();
  } finally {
    countdown?.resume();
  }
}

/** Node ends a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Timer that can be paused, and restarted up to a ceiling. */
export class Countdown {
  #left: number;
  /** Time left until the ceiling. */
  #ceiling: number;
  readonly #expired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  /** Number of running gradings. */
  #pauses = 0;

  constructor(milliseconds: number, expired: () => void, ceiling = milliseconds) {
    this.#left = Math.min(milliseconds, ceiling);
    this.#ceiling = ceiling;
    this.#expired = expired;
    this.#start();
  }

  /** Whether no restart could have given more time. */
  get isAtCeiling(): boolean {
    return this.#left >= this.#ceiling;
  }

  pause(): void {
    if (this.#pauses++ > 0 || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#elapse();
  }

  resume(): void {
    if (--this.#pauses === 0 && this.#timer !== undefined) this.#start();
  }

  /** Counts from `milliseconds` again, but not beyond the ceiling. */
  restart(milliseconds: number): void {
    if (this.#timer === undefined) return;
    if (this.#pauses === 0) {
      clearTimeout(this.#timer);
      this.#elapse();
    }
    this.#left = Math.min(milliseconds, this.#ceiling);
    if (this.#pauses === 0) this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #elapse(): void {
    const elapsed = performance.now() - this.#since;
    this.#left -= elapsed;
    this.#ceiling -= elapsed;
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expired, Math.min(LONGEST_TIMER_MS, Math.max(0, this.#left)));
  }
}
