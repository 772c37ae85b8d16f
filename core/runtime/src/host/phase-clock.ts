import { type GradingOptions, MrlmError } from "@mrlm/spec";
import { Countdown } from "./countdown.ts";
import type { Deadlines, Phase } from "./deadlines.ts";
import { type EnvironmentPhase, indexOfPhase, sessionTracking } from "./phase-beacon.ts";
import { PhaseRun } from "./phase-run.ts";

/**
 * Runs an environment's phases against their deadlines. Grading within a step counts against the deadline of scoring and not
 * against the step's own: the step's clock is paused meanwhile.
 */
export class PhaseClock {
  readonly #environment: string;
  readonly #deadlines: Deadlines;
  readonly #session: string;
  /** Entered phases, with their indices for the watchdog. */
  readonly #places: { [phase in Phase]?: { readonly place: EnvironmentPhase; readonly index: number } } = {};
  #running: Pick<PhaseRun<never>, "countdown" | "signal"> | undefined;

  /** @param session name of the session in reports */
  constructor(environment: string, deadlines: Deadlines, session = "") {
    this.#session = session;
    this.#environment = environment;
    this.#deadlines = deadlines;
  }

  /**
   * Runs a phase. Rejects with DEADLINE_EXCEEDED after its deadline and with CANCELLED if the caller aborts. In both cases the signal of the work is aborted,
   * and its later results are ignored.
   * @param work reads the signal when it needs it
   */
  run<T>(
    phase: Phase,
    callers: readonly AbortSignal[],
    work: (options: { readonly signal: AbortSignal }) => T | Promise<T>,
  ): Promise<T> {
    const run = new PhaseRun<T>(this.#placeOf(phase), callers, () => {
      if (this.#running === run) this.#running = undefined;
    });
    this.#running = run;
    const { tracker } = sessionTracking;
    run.start(
      tracker === undefined
        ? work
        : (options) => tracker({ environment: this.#environment, session: this.#session, phase }, () => work(options)),
    );
    return run.promise;
  }

  #placeOf(phase: Phase): { readonly place: EnvironmentPhase; readonly index: number } {
    const known = this.#places[phase];
    if (known !== undefined) return known;
    const place = { environment: this.#environment, phase, limitMs: this.#deadlines[phase] };
    return (this.#places[phase] = { place, index: indexOfPhase(place) });
  }

  /** Signal of the running phase. */
  get signal(): AbortSignal | undefined {
    return this.#running?.signal;
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
