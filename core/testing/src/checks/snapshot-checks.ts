import { type Action, type JsonValue, MrlmError } from "@mrlm/spec";
import type { EnvironmentSession } from "@mrlm/spec/host";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "../contract/environment-check.ts";
import { never, withoutDurations, withSession } from "../contract/play.ts";
import {
  describeDifference,
  type RecordedEpisode,
  recordFixture,
  replay,
  variedFixtures,
} from "../contract/recorded-episode.ts";
import { serialise } from "../contract/serialise.ts";
import type { Subject } from "../contract/subject.ts";

/** Number of fixtures, and the time after which the check begins no other, in milliseconds. */
const RECORDED = 6;
const WITHIN_MS = 1_000;

/** Check of environments with snapshots: an episode continues from each of its states as it did. */
export const snapshotChecks: readonly EnvironmentCheck[] = [
  {
    code: "SNAPSHOT_DIFFERS",
    name: "an episode continues from a snapshot as it did",
    run: async (subject) => {
      const deadline = performance.now() + WITHIN_MS;
      for (const fixture of variedFixtures(subject.fixtures).slice(0, RECORDED)) {
        if (performance.now() > deadline) return;
        const { determinism, snapshots } = await subject.describe(fixture.options);
        // Sessions of a server have none. Without determinism two continuations may differ.
        if (snapshots !== true || determinism !== "full") continue;
        await compareContinuations(subject, await recordFixture(subject, fixture));
      }
    },
  },
];

async function compareContinuations(subject: Subject, { fixture, start, actions }: RecordedEpisode): Promise<void> {
  const compare = (turns: number, lines: readonly string[], where: string): void => {
    const difference = describeDifference(["", ...expected.slice(turns)], ["", ...lines]);
    if (difference === undefined) return;
    const text = `The actions of fixture "${fixture.name}" were played ${where}, and ${difference}.`;
    throw new Defect("SNAPSHOT_DIFFERS", text, { about: fixture.name });
  };
  const [, ...expected] = await withSession(subject, fixture.options, (session) => replay(session, start, actions));
  const snapshots: JsonValue[] = [];
  await withSession(subject, fixture.options, async (session) => {
    await session.reset({ ...start, signal: never });
    const lines: string[] = [];
    for (const action of actions.slice(0, expected.length)) {
      lines.push(await take(session, action));
      if (lines.length < expected.length) snapshots.push(await snapshotOf(session));
    }
    compare(0, lines, "with a snapshot after each turn");
  });
  for (const [index, snapshot] of snapshots.entries())
    await withSession(subject, fixture.options, async (session) => {
      const turns = index + 1;
      await session.reset({ ...start, signal: never });
      await session.restore?.(snapshot, { signal: never });
      const lines: string[] = [];
      for (const action of actions.slice(turns, expected.length)) lines.push(await take(session, action));
      compare(turns, lines, `from the snapshot after turn ${turns} on`);
    });
}

/** Takes a turn. Returns its result, or the error of the environment, as `replay` does. */
async function take(session: EnvironmentSession, action: Action): Promise<string> {
  try {
    return serialise(withoutDurations(await session.step(action, { signal: never })));
  } catch (error) {
    if (!MrlmError.isInstance(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

async function snapshotOf(session: EnvironmentSession): Promise<JsonValue> {
  try {
    return (await session.snapshot?.({ signal: never })) ?? null;
  } catch (error) {
    throw new Defect("SNAPSHOT_DIFFERS", error instanceof Error ? error.message : String(error));
  }
}
