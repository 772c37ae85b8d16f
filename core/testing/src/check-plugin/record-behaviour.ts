import { withoutGrades } from "@mrlm/kit/learning";
import type { Action } from "@mrlm/spec";
import { type Behaviour, behaviourOf } from "@mrlm/runtime";
import type { AnyPlugin } from "../any-plugin.ts";
import type { PluginSubject } from "../check/plugin-part.ts";
import { serialise } from "../contract/serialise.ts";
import { playFixture, withSession } from "../contract/play.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

type TranscriptLine = Parameters<typeof behaviourOf>[0][number];
type Fixtures = Behaviour["environments"][string]["fixtures"];

/** Seed of fixtures that state none. */
const SEED = 1;

/** Plays the fixtures of a plugin's environments, and returns the hashes of their transcripts. Leaves out episodes that are not deterministic, and environments whose fixtures fail. */
export async function recordBehaviour({ plugin, plugins }: PluginSubject): Promise<Behaviour["environments"]> {
  const environments: Behaviour["environments"] = {};
  for (const { id } of plugin.environments ?? []) {
    // A check reports why it fails.
    const fixtures = await recorded(plugins, id).catch(() => ({}));
    if (Object.keys(fixtures).length > 0) environments[id] = { fixtures };
  }
  return environments;
}

async function recorded(plugins: readonly AnyPlugin[], id: string): Promise<Fixtures> {
  const subject = await makeSubject(plugins, id, inProcess, undefined);
  try {
    return await fixturesOf(subject);
  } finally {
    await subject.close();
  }
}

async function fixturesOf(subject: Subject): Promise<Fixtures> {
  const fixtures: Fixtures = {};
  for (const fixture of subject.fixtures) {
    if ((await subject.describe(fixture.options)).determinism !== "full") continue;
    const actions: Action[] = [];
    const { first, steps } = await withSession(subject, fixture.options, (session) =>
      playFixture(subject, { ...fixture, seed: fixture.seed ?? SEED }, session, (action) => {
        actions.push(action);
        return action;
      }),
    );
    const line = (kind: TranscriptLine["kind"], value: unknown): TranscriptLine => ({ kind, text: serialise(value) });
    fixtures[fixture.name] = behaviourOf([
      line("returned", first),
      ...steps.flatMap((step, i) => [line("action", actions[i]), line("returned", withoutGrades(step))]),
    ]);
  }
  return fixtures;
}
