import type { Fixture, JsonObject, SimulatedEnvironment } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { never, playFixture, withSession } from "./play.ts";
import { serialise } from "./serialise.ts";
import type { Subject } from "./subject.ts";

/** End of an episode of a check. */
export type Ending =
  | "played to its end"
  | "aborted in reset"
  | "aborted in step"
  | "aborted in scoring"
  | "closed in reset"
  | "closed in step"
  | "failed in reset"
  | "failed in step";

/** Returns the fixture whose options and actions a check plays: the first gold one. */
export function probeFixture({ fixtures }: Subject): Fixture | undefined {
  return fixtures.find(({ kind }) => kind === "gold") ?? fixtures[0];
}

/** Returns the first gold fixture under the options of the check: a fixture can have others, which need not fit them. */
export function goldFixture(subject: Subject): Fixture | undefined {
  const own = serialise(subject.ref());
  return subject.fixtures.find(({ kind, options }) => kind === "gold" && serialise(subject.ref(options)) === own);
}

/** Place of an episode at which a probe ends it. */
export interface ProbePlace {
  /** Index of the step, from 0. */
  readonly turn: number;
  /** Milliseconds after the begin of the call. */
  readonly afterMs: number;
}

/** Different turns at which the probes of one ending end their episodes. */
const PLACES = 4;
const LONGEST_DELAY_MS = 3;

/** Returns the n-th of several places that are spread over an episode: its first and its last turn, and some between them, each with several delays. */
export function placeOf(n: number, turns: number): ProbePlace {
  const places = Math.min(PLACES, turns);
  const nth = (n + Math.floor(n / PLACES)) % places;
  const turn = places === 1 ? 0 : Math.round((nth * (turns - 1)) / (places - 1));
  return { turn, afterMs: n % (LONGEST_DELAY_MS + 1) };
}

const turnsOfFixtures = new WeakMap<Fixture, Promise<number>>();

/** Returns the number of turns of a fixture, which is played once; 1 for one that cannot be played. */
export async function turnsOf(subject: Subject, fixture: Fixture | undefined): Promise<number> {
  if (fixture === undefined) return 1;
  let turns = turnsOfFixtures.get(fixture);
  if (turns === undefined) {
    turns = withSession(subject, fixture.options, (session) => playFixture(subject, fixture, session)).then(
      ({ steps }) => Math.max(1, steps.length),
      // Another check reports why it fails.
      () => 1,
    );
    turnsOfFixtures.set(fixture, turns);
  }
  return turns;
}

/** Opens a session, lets an episode end in some way, and closes the session. Ignores errors: they are wanted. */
export async function playProbe(
  subject: Subject,
  fixture: Fixture | undefined,
  ending: Ending,
  place: ProbePlace,
): Promise<void> {
  const session = await subject.host.open(subject.ref(fixture?.options));
  try {
    if (ending === "aborted in reset") await aborted((signal) => session.reset({ signal }), place);
    else if (ending === "closed in reset") await closed(session, () => session.reset({ signal: never }), place);
    else if (fixture !== undefined)
      await playFixture(subject, fixture, endedInStep(session, await turnsOf(subject, fixture), ending, place));
  } catch {
    // Another check reports why an episode fails.
  } finally {
    await close(session);
  }
}

/** Returns the session with an abort or its end in a step, if the ending has one. */
function endedInStep(
  session: EnvironmentSession,
  turns: number,
  ending: Ending,
  place: ProbePlace,
): SimulatedEnvironment {
  if (ending !== "aborted in step" && ending !== "aborted in scoring" && ending !== "closed in step") return session;
  // Most environments score in the last step.
  let turnsLeft = ending === "aborted in scoring" ? turns - 1 : place.turn;
  return {
    reset: (options) => session.reset(options),
    step: (action, options) => {
      if (turnsLeft-- !== 0) return session.step(action, options);
      return ending === "closed in step"
        ? closed(session, () => session.step(action, options), place)
        : aborted((signal) => session.step(action, { signal }), place);
    },
  };
}

/** Calls, and aborts at once, when a new environment is still created, or a few milliseconds later. */
async function aborted<T>(call: (signal: AbortSignal) => Promise<T>, place: ProbePlace): Promise<T> {
  const controller = new AbortController();
  const work = call(controller.signal);
  const timer = after(place, () => controller.abort());
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls, and closes the session at once or a few milliseconds later. */
async function closed<T>(session: EnvironmentSession, call: () => Promise<T>, place: ProbePlace): Promise<T> {
  const work = call();
  const timer = after(place, () => void close(session));
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Acts at once for 0 ms. */
function after({ afterMs }: ProbePlace, act: () => void): ReturnType<typeof setTimeout> | undefined {
  if (afterMs > 0) return setTimeout(act, afterMs);
  act();
  return undefined;
}

async function close(session: EnvironmentSession): Promise<void> {
  await session.close().catch(() => undefined);
}

/** Options of {@link probeFixture}, for checks that open a session themselves. */
export function probeOptions(subject: Subject): JsonObject | undefined {
  return probeFixture(subject)?.options;
}
