import { type GradingOptions, MrlmError } from "@mrlm/spec";
import { Countdown } from "./countdown.ts";
import type { Deadlines, Phase } from "./deadlines.ts";
import { enterPhase, type EnvironmentPhase, indexOfPhase, leavePhase, sessionTracking } from "./phase-beacon.ts";

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

/** Runs of this turn of the event loop that have neither ended nor begun to watch their deadline and callers. */
let unwatched: { watch(): void }[] = [];

function watchAll(): void {
  const runs = unwatched;
  unwatched = [];
  for (const run of runs) run.watch();
}

/**
 * Phase that runs. Most steps end within one turn of the event loop, in which neither a timer nor the listener of a signal
 * could be called. So the timer and the listeners, which cost more than the rest of a step, are made in the next turn, or
 * when the work reads the signal.
 */
class PhaseRun<T> {
  readonly promise: Promise<T>;
  readonly #place: EnvironmentPhase;
  readonly #index: number;
  readonly #callers: readonly AbortSignal[];
  readonly #resolve: (value: T) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onEnd: () => void;
  readonly #startedAt = performance.now();
  #controller: AbortController | undefined;
  #countdown: Countdown | undefined;
  /** Error that stopped it. */
  #stopped: MrlmError | undefined;
  #hasEnded = false;

  /**
   * @param index of the place for the watchdog
   * @param callers each of them stops it
   * @param onEnd called when the work has ended or was stopped, before the promise settles
   */
  constructor(
    { place, index }: { readonly place: EnvironmentPhase; readonly index: number },
    callers: readonly AbortSignal[],
    onEnd: () => void,
  ) {
    this.#place = place;
    this.#index = index;
    this.#callers = callers;
    this.#onEnd = onEnd;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.promise = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Signal of the work, aborted when the phase is stopped. */
  get signal(): AbortSignal {
    this.watch();
    this.#controller ??= new AbortController();
    if (this.#stopped !== undefined) this.#controller.abort(this.#stopped);
    return this.#controller.signal;
  }

  /** Timer of the deadline. */
  get countdown(): Countdown | undefined {
    this.watch();
    return this.#countdown;
  }

  /** Begins the work, unless a caller is aborted already. */
  start(work: (options: { readonly signal: AbortSignal }) => T | Promise<T>): void {
    enterPhase(this.#index);
    if (this.#isAborted()) return this.#stop(this.#cancelled());
    const signal = (): AbortSignal => this.signal;
    let returned: T | Promise<T>;
    try {
      returned = work({
        get signal() {
          return signal();
        },
      });
    } catch (error) {
      if (this.#end()) this.#reject(error);
      return;
    }
    Promise.resolve(returned).then(
      (value) => {
        if (this.#end()) this.#resolve(value);
      },
      (error: unknown) => {
        if (this.#end()) this.#reject(error);
      },
    );
    if (this.#hasEnded) return;
    if (unwatched.length === 0) setImmediate(watchAll);
    unwatched.push(this);
  }

  /** Starts the timer and listens to the callers, unless it has ended. */
  watch(): void {
    if (this.#hasEnded || this.#countdown !== undefined) return;
    if (this.#isAborted()) return this.#stop(this.#cancelled());
    const { environment, phase, limitMs } = this.#place;
    this.#countdown = new Countdown(limitMs - (performance.now() - this.#startedAt), () =>
      this.#stop(
        new MrlmError(
          "DEADLINE_EXCEEDED",
          `Environment ${environment} took longer than ${limitMs} ms in its ${phase} phase.`,
        ),
      ),
    );
    for (const caller of this.#callers) caller.addEventListener("abort", this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.#stop(this.#cancelled());

  #isAborted(): boolean {
    for (const caller of this.#callers) if (caller.aborted) return true;
    return false;
  }

  #cancelled(): MrlmError {
    const { environment, phase } = this.#place;
    return new MrlmError("CANCELLED", `The ${phase} phase of environment ${environment} was given up.`, {
      cause: this.#callers.find(({ aborted }) => aborted)?.reason,
    });
  }

  #stop(error: MrlmError): void {
    if (this.#hasEnded) return;
    this.#stopped = error;
    this.#close();
    this.#reject(error);
    this.#controller?.abort(error);
  }

  /** Ends it with the work. @returns whether the outcome of the work counts: neither the deadline nor a caller came first */
  #end(): boolean {
    if (this.#hasEnded) return false;
    // Without listeners an abort in the same turn is noticed here.
    if (this.#countdown === undefined && this.#isAborted()) {
      this.#stop(this.#cancelled());
      return false;
    }
    this.#close();
    return true;
  }

  #close(): void {
    this.#hasEnded = true;
    leavePhase();
    if (this.#countdown !== undefined) {
      this.#countdown.stop();
      for (const caller of this.#callers) caller.removeEventListener("abort", this.#onAbort);
    }
    this.#onEnd();
  }
}
