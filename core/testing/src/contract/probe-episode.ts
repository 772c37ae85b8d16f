import type { EnvironmentSession, Fixture, JsonObject, SimulatedEnvironment } from "@mrlm/spec";
import { playFixture } from "./play.ts";
import type { Subject } from "./subject.ts";

/** End of an episode of a check. */
export type Ending = "played to its end" | "aborted in reset" | "aborted in step" | "failed in step";

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
    else if (fixture !== undefined)
      await playFixture(subject, fixture, ending === "aborted in step" ? abortedInStep(session, index) : session);
  } catch {
    // Another check reports why an episode fails.
  } finally {
    await close(session);
  }
}

/** Returns the session with an abort in its first turn, or in its second: the first action may only ask for the slow work. */
function abortedInStep(session: EnvironmentSession, index: number): SimulatedEnvironment {
  let turnsLeft = index % 4 < 2 ? 0 : 1;
  return {
    reset: (options) => session.reset(options),
    step: (action, options) =>
      turnsLeft-- === 0 ? aborted((signal) => session.step(action, { signal }), index) : session.step(action, options),
  };
}

/** Calls, and aborts at once or a few milliseconds later. */
async function aborted<T>(call: (signal: AbortSignal) => Promise<T>, index: number): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), index % 4);
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function close(session: EnvironmentSession): Promise<void> {
  await session.close().catch(() => undefined);
}

/** Options of {@link probeFixture}, for checks that open a session themselves. */
export function probeOptions(subject: Subject): JsonObject | undefined {
  return probeFixture(subject)?.options;
}
