import type { EnvironmentSession, Fixture, JsonObject, SimulatedEnvironment } from "@mrlm/spec";
import { never, playFixture } from "./play.ts";
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

/** Opens a session, lets an episode end in some way, and closes the session. Ignores errors: they are wanted. */
export async function playProbe(
  subject: Subject,
  fixture: Fixture | undefined,
  ending: Ending,
  index: number,
): Promise<void> {
  const session = await subject.host.open(subject.ref(fixture?.options));
  try {
    if (ending === "aborted in reset") await aborted((signal) => session.reset({ signal }), index);
    else if (ending === "closed in reset") await closed(session, () => session.reset({ signal: never }), index);
    else if (fixture !== undefined) await playFixture(subject, fixture, endedInStep(session, fixture, ending, index));
  } catch {
    // Another check reports why an episode fails.
  } finally {
    await close(session);
  }
}

/** Returns the session with an abort or its end in a step, if the ending has one. */
function endedInStep(
  session: EnvironmentSession,
  { policy }: Fixture,
  ending: Ending,
  index: number,
): SimulatedEnvironment {
  if (ending !== "aborted in step" && ending !== "aborted in scoring" && ending !== "closed in step") return session;
  // The first action may only ask for the slow work. Most environments score in the step after the last action of the fixture.
  const last = Array.isArray(policy) ? policy.length - 1 : 0;
  let turnsLeft = ending === "aborted in scoring" ? last : index % 4 < 2 ? 0 : 1;
  return {
    reset: (options) => session.reset(options),
    step: (action, options) => {
      if (turnsLeft-- !== 0) return session.step(action, options);
      return ending === "closed in step"
        ? closed(session, () => session.step(action, options), index)
        : aborted((signal) => session.step(action, { signal }), index);
    },
  };
}

/** Calls, and aborts at once, when a new environment is still created, or a few milliseconds later. */
async function aborted<T>(call: (signal: AbortSignal) => Promise<T>, index: number): Promise<T> {
  const controller = new AbortController();
  const work = call(controller.signal);
  const timer = afterMs(index % 4, () => controller.abort());
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls, and closes the session at once or a few milliseconds later. */
async function closed<T>(session: EnvironmentSession, call: () => Promise<T>, index: number): Promise<T> {
  const work = call();
  const timer = afterMs(index % 4, () => void close(session));
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Acts at once for 0 ms. */
function afterMs(ms: number, act: () => void): ReturnType<typeof setTimeout> | undefined {
  if (ms > 0) return setTimeout(act, ms);
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
