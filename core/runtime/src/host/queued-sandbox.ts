import { setTimeout as delay } from "node:timers/promises";
import { traced } from "@mrlm/kit/service";
import { MrlmError, type Sandbox, type SandboxSession } from "@mrlm/spec";
import type { SandboxCallOptions } from "@mrlm/spec/host";
import type { PhaseClock } from "./phase-clock.ts";

/** Default delay in milliseconds between two tries. */
const DELAY_MS = 200;

/** Calls of a session that wait for places. */
interface QueuedCalls {
  /** Adds the pause of the deadline, and the end of the running phase. */
  withQueue<Options extends SandboxCallOptions>(options: Options): Options;
  /** Repeats a call while the queue is full. */
  run<T>(given: SandboxCallOptions | undefined, work: (options: SandboxCallOptions) => Promise<T>): Promise<T>;
}

/** Returns calls during whose waits the deadline of the running phase is paused. The end of the phase ends the call too. */
export function queuedCalls(clock: PhaseClock): QueuedCalls {
  const queued = <T>(wait: () => Promise<T>): Promise<T> => clock.paused(wait);
  const withQueue = <Options extends SandboxCallOptions>(options: Options): Options => {
    const signals = new Set([options.signal, clock.signal].filter((each) => each !== undefined));
    const [only] = signals;
    const signal = signals.size > 1 ? AbortSignal.any([...signals]) : only;
    return { ...options, queued, ...(signal && { signal }) };
  };
  const run = async <T>(
    given: SandboxCallOptions = {},
    work: (options: SandboxCallOptions) => Promise<T>,
  ): Promise<T> => {
    const options = withQueue(given);
    const { signal } = options;
    for (;;) {
      try {
        return await work(options);
      } catch (error) {
        if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED")) throw error;
        const delayMs = error.retryDelayMs ?? DELAY_MS;
        // After an abort the sandbox rejects the next try.
        await queued(() => delay(delayMs, undefined, { ...(signal && { signal }) }).catch(() => undefined));
      }
    }
  };
  return { withQueue, run };
}

/**
 * Returns a sandbox for the environment of a session. The deadline of the running phase is paused while a call waits for a place, and while the queue of
 * the sandbox is full: such a call is repeated. The end of the phase ends the call too. An episode that holds a session does not wait without end for another:
 * episodes that do could wait for each other. @param sessions of the episode, to which new ones are added
 */
export function queuedSandbox(sandbox: Sandbox, clock: PhaseClock, sessions: SandboxSession[]): Sandbox {
  const { withQueue, run } = queuedCalls(clock);
  const spanned = <T>(call: string, work: () => Promise<T>): Promise<T> =>
    traced(`sandbox ${call}`, () => ({ "mrlm.sandbox.language": sandbox.language }), work);
  return {
    get language() {
      return sandbox.language;
    },
    get limits() {
      return sandbox.limits;
    },
    ...(sandbox.children !== undefined && { children: sandbox.children }),
    run: (submission, options) => spanned("run", () => run(options, (own) => sandbox.run(submission, own))),
    test: (submission, suite, options) =>
      spanned("test", () => run(options, (own) => sandbox.test(submission, suite, own))),
    async session(options) {
      const open = (own: SandboxCallOptions): Promise<SandboxSession> => sandbox.session({ ...options, ...own });
      const isFirst = sessions.every(({ end }) => end !== undefined);
      const session = await spanned("session", () => (isFirst ? run(options, open) : open(withQueue({ ...options }))));
      sessions.push(session);
      return session;
    },
    warm: () => sandbox.warm(),
    layers: () => sandbox.layers(),
    close: () => sandbox.close(),
  };
}
