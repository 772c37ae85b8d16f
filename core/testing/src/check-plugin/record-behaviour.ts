import { withoutGrades } from "@mrlm/kit/learning";
import { type Behaviour, behaviourOf } from "@mrlm/runtime";
import type { AnyPlugin } from "../any-plugin.ts";
import type { PluginSubject } from "../check/plugin-part.ts";
import { playedFixture, variedFixtures } from "../contract/recorded-episode.ts";
import { serialise } from "../contract/serialise.ts";
import { makeSubject, type Subject } from "../contract/subject.ts";
import { inProcess } from "../transports.ts";

type TranscriptLine = Parameters<typeof behaviourOf>[0][number];
type Fixtures = Behaviour["environments"][string]["fixtures"];

/**
 * Plays the fixtures of a plugin's environments, and returns the hashes of their transcripts. Leaves out episodes that are not deterministic, and environments whose fixtures fail.
 * @param most number of fixtures of each environment, the first of each kind and options before others
 */
export async function recordBehaviour(
  { plugin, plugins }: PluginSubject,
  most = Number.POSITIVE_INFINITY,
): Promise<Behaviour["environments"]> {
  const environments: Behaviour["environments"] = {};
  for (const { id } of plugin.environments ?? []) {
    // A check reports why it fails.
    const fixtures = await recorded(plugins, id, most).catch(() => ({}));
    if (Object.keys(fixtures).length > 0) environments[id] = { fixtures };
  }
  return environments;
}

async function recorded(plugins: readonly AnyPlugin[], id: string, most: number): Promise<Fixtures> {
  const subject = await makeSubject(plugins, id, inProcess, undefined);
  try {
    return await fixturesOf(subject, most);
  } finally {
    await subject.close();
  }
}

async function fixturesOf(subject: Subject, most: number): Promise<Fixtures> {
  const fixtures: Fixtures = {};
  for (const fixture of variedFixtures(subject.fixtures).slice(0, most)) {
    if ((await subject.describe(fixture.options)).determinism !== "full") continue;
    const { actions, transcript } = await playedFixture(subject, fixture);
    const { first, steps } = transcript;
    const line = (kind: TranscriptLine["kind"], value: unknown): TranscriptLine => ({ kind, text: serialise(value) });
    fixtures[fixture.name] = behaviourOf([
      line("returned", first),
      ...steps.flatMap((step, i) => [line("action", actions[i]), line("returned", withoutGrades(step))]),
    ]);
  }
  return fixtures;
}
