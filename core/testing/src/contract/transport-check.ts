import assert from "node:assert/strict";
import { serialise } from "./serialise.ts";
import { playFixture, withSession } from "./play.ts";
import { variedFixtures } from "./recorded-episode.ts";
import type { Subject } from "./subject.ts";

/** Number of fixtures that are played over each transport. */
const FIXTURES = 8;

/** Check that descriptions, demonstrations and fixtures of each kind and options have the same bytes over all transports. */
export async function transportCheck(subjects: readonly (() => Promise<Subject>)[]): Promise<void> {
  const seen: string[] = [];
  for (const make of subjects) {
    const subject = await make();
    try {
      seen.push(serialise(await everything(subject)));
    } finally {
      await subject.close();
    }
  }
  for (const other of seen.slice(1))
    assert.equal(other, seen[0], "A client receives different bytes over different transports.");
}

async function everything(subject: Subject): Promise<unknown> {
  // Sessions of a server have no snapshots.
  const described = [...(await subject.host.list()), await subject.describe()].map(({ snapshots: _, ...rest }) => rest);
  const demonstrated = subject.definition.demonstrate && (await subject.host.demonstrate(subject.ref(), ["train/0"]));
  const played = [];
  for (const fixture of variedFixtures(subject.fixtures).slice(0, FIXTURES)) {
    const { determinism } = await subject.describe(fixture.options);
    if (determinism !== "full") continue;
    played.push(await withSession(subject, fixture.options, (session) => playFixture(subject, fixture, session)));
  }
  return { described, demonstrated, played };
}
