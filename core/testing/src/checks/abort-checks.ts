import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { SimulatedEnvironment } from "@mrlm/spec";
import { Defect } from "../check/defect.ts";
import { withEnvironment } from "../contract/changed-environment.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { playFixture, withSession } from "../contract/play.ts";
import { playProbe, probeFixture, probeOptions, turnsOf } from "../contract/probe-episode.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

/** Time in which a call must end after its signal, in milliseconds. */
const LATE_MS = 1_000;
/** Time after which a call that continues is no longer waited for, in milliseconds. */
const GIVE_UP_MS = 5_000;
/** Turns of an episode that are aborted, one in each episode. */
const MAX_ABORTED_TURNS = 16;
/** Block of the event loop that other sessions notice, in milliseconds. */
const BLOCKED_MS = 250;
/** Times that a block or a late end must repeat: the system can stop a process once. */
const REPEATED = 3;

/** Checks of aborts and blocked event loops: what continues after its signal, and the longest block. */
export const abortChecks: readonly EnvironmentCheck[] = [
  {
    code: "ABORT_LATE",
    name: "reset and step end with their signal",
    timeoutMs: 60_000,
    run: async (subject) => {
      let late: LateCall = await abortCalls(subject);
      for (let times = 1; times < REPEATED && late.ms > LATE_MS && !late.isPending; times++)
        late = await abortCalls(subject);
      const { call, ms, isPending } = late;
      if (ms > LATE_MS)
        throw new Defect(
          "ABORT_LATE",
          `${call} continued for ${isPending ? "more than " : ""}${(ms / 1_000).toFixed(1)} s after its signal.`,
          { about: call },
        );
    },
  },
  {
    code: "EVENT_LOOP_BLOCKED",
    name: `blocks the event loop for at most ${BLOCKED_MS} ms`,
    quick: false,
    run: async (subject) => {
      const fixture = probeFixture(subject);
      if (fixture === undefined) return;
      await withSession(subject, probeOptions(subject), async (session) => {
        const blocks: number[] = [];
        for (let index = 0; index < REPEATED; index++) {
          const monitor = monitorEventLoopDelay({ resolution: 5 });
          monitor.enable();
          await delay(10);
          await playFixture(subject, fixture, session);
          await delay(10);
          monitor.disable();
          blocks.push(monitor.max / 1e6);
        }
        const longest = Math.min(...blocks);
        if (longest > BLOCKED_MS)
          throw new Defect(
            "EVENT_LOOP_BLOCKED",
            `In each of ${REPEATED} episodes of fixture "${fixture.name}" the event loop was blocked for ${Math.round(longest)} ms or more.`,
          );
      });
    },
  },
];

/** Aborts resets and steps, and returns the call that continued longest. */
async function abortCalls(subject: Subject): Promise<LateCall> {
  const calls = new AbortedCalls();
  const plugins = withEnvironment(subject.plugins, subject.definition.id, (environment) => calls.watch(environment));
  const watched = await makeSubject(plugins, subject.definition.id, inProcess, subject.ref().options);
  try {
    const fixture = probeFixture(watched);
    for (let afterMs = 0; afterMs < 4; afterMs++)
      await playProbe(watched, fixture, "aborted in reset", { turn: 0, afterMs });
    const turns = await turnsOf(watched, fixture);
    for (let n = 0; n < Math.max(4, Math.min(turns, MAX_ABORTED_TURNS)); n++)
      await playProbe(watched, fixture, "aborted in step", { turn: n % turns, afterMs: n % 4 });
    await calls.settled();
  } finally {
    await watched.close();
  }
  return calls.longest();
}

/** Call of an environment whose signal may be aborted. */
interface AbortableCall {
  readonly call: "reset" | "step";
  abortedAt?: number;
  /** Absent while it continues. */
  endedAt?: number;
}

/** Duration of a call after its abort. */
interface LateCall {
  readonly call: string;
  readonly ms: number;
  readonly isPending: boolean;
}

/** Calls of an environment, with the time that they continue after their abort. */
class AbortedCalls {
  readonly #calls = new Set<AbortableCall>();
  readonly #pending = new Set<Promise<void>>();

  /** Returns the environment with calls that are timed from their abort. */
  watch(environment: SimulatedEnvironment): SimulatedEnvironment {
    return {
      reset: (options) => this.#time("reset", options.signal, environment.reset(options)),
      step: (action, options) => this.#time("step", options.signal, environment.step(action, options)),
      close: async () => environment.close?.(),
    };
  }

  /** Waits for calls that continue after their abort, at most {@link GIVE_UP_MS}. */
  async settled(): Promise<void> {
    const giveUp = new AbortController();
    const late = delay(GIVE_UP_MS, undefined, { signal: giveUp.signal }).catch(() => undefined);
    await Promise.race([Promise.all(this.#pending), late]);
    giveUp.abort();
  }

  /** Returns the aborted call that continued longest. */
  longest(): LateCall {
    const now = performance.now();
    const times = [...this.#calls].flatMap(({ call, abortedAt, endedAt }): LateCall[] =>
      abortedAt === undefined ? [] : [{ call, ms: (endedAt ?? now) - abortedAt, isPending: endedAt === undefined }],
    );
    return times.reduce((one, other) => (other.ms > one.ms ? other : one), { call: "", ms: 0, isPending: false });
  }

  #time<T>(call: "reset" | "step", signal: AbortSignal, work: Promise<T>): Promise<T> {
    const timed: AbortableCall = { call };
    this.#calls.add(timed);
    const onAbort = (): void => void (timed.abortedAt = performance.now());
    signal.addEventListener("abort", onAbort, { once: true });
    const end = (): void => {
      signal.removeEventListener("abort", onAbort);
      timed.endedAt = performance.now();
      this.#pending.delete(ended);
    };
    const ended: Promise<void> = work.then(end, end);
    this.#pending.add(ended);
    return work;
  }
}
