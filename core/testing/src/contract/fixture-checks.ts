import assert from "node:assert/strict";
import { type Fixture, roleOf } from "@mrlm/spec";
import { playFixture, withSession } from "./play.ts";
import { recordFixture } from "./recorded-episode.ts";
import { serialise } from "./serialise.ts";
import type { EnvironmentCheck } from "./environment-check.ts";
import { checkRewardsOf } from "./reward-range.ts";
import type { Subject } from "./subject.ts";

const KINDS = ["gold", "nop", "cheat", "malformed", "determinism"] as const;

/** Example of each kind as a line of a definition, with its expected outcome. */
const EXAMPLES: Readonly<Record<(typeof KINDS)[number], string>> = {
  gold: '{ name: "right answer", kind: "gold", policy: ({ task }) => String(task.private["answer"]), reward: 1 } // earns the full reward',
  nop: '{ name: "no answer", kind: "nop", policy: () => "", reward: 0 } // does nothing, earns none',
  cheat:
    '{ name: "echo", kind: "cheat", policy: ({ task }) => JSON.stringify(task.public), reward: 0 } // tries to earn without solving the task',
  malformed:
    '{ name: "no form", kind: "malformed", policy: () => "???", reward: 0 } // an answer without the form, earns the documented penalty',
  determinism:
    '{ name: "twice", kind: "determinism", seed: 1, policy: () => "1" } // is played twice and compared byte for byte',
};

function howToAdd(environment: string, missing: readonly (typeof KINDS)[number][]): string {
  return [
    `${environment} lacks fixtures of the kind${missing.length === 1 ? "" : "s"} ${missing.join(", ")}. Fixtures are episodes whose outcome is known.`,
    "Add them to its definition; for example:",
    "  fixtures: [",
    ...missing.map((kind) => `    ${EXAMPLES[kind].replace(" //", ", //")}`),
    "  ],",
    "docs/build/environments.md describes each kind.",
  ].join("\n");
}

/** Checks that fixtures have their stated outcomes. */
export function fixtureChecks(fixtures: readonly Fixture[]): EnvironmentCheck[] {
  return [
    {
      code: "FIXTURE_MISSING",
      name: "has a gold, nop, cheat, malformed and determinism fixture",
      run: async ({ definition, describe }) => {
        let missing = KINDS.filter((kind) => !fixtures.some((fixture) => fixture.kind === kind));
        if (missing.includes("determinism") && (await describe()).determinism === "none")
          missing = missing.filter((kind) => kind !== "determinism");
        assert(missing.length === 0, howToAdd(definition.id, missing));
      },
    },
    ...fixtures.map((fixture) => ({
      code: fixture.kind === "determinism" ? ("FIXTURE_DETERMINISM" as const) : ("FIXTURE_REWARD" as const),
      about: fixture.name,
      name: `fixture "${fixture.name}" (${fixture.kind})`,
      run: (subject: Subject) =>
        fixture.kind === "determinism" ? checkDeterminism(subject, fixture) : checkReward(subject, fixture),
    })),
  ];
}

/** Further seeds of a fixture that states neither a task nor a seed: its outcome must hold in any task. */
const MORE_SEEDS = [2, 3, 4, 5, 6, 7, 8];

async function checkReward(subject: Subject, fixture: Fixture): Promise<void> {
  const { determinism } = await subject.describe(fixture.options);
  const isFixed = fixture.seed !== undefined || fixture.task !== undefined || determinism === "none";
  await checkEpisode(subject, fixture);
  if (isFixed) return;
  for (const seed of MORE_SEEDS) await checkEpisode(subject, { ...fixture, seed });
}

async function checkEpisode(subject: Subject, fixture: Fixture): Promise<void> {
  const expected = fixture.reward;
  assert(expected !== undefined, `Fixture "${fixture.name}" states no reward.`);
  const { transcript, start } = await recordFixture(subject, fixture);
  const { totals, unscored, reason, acted, steps } = transcript;
  assert.equal(unscored, 0, `Fixture "${fixture.name}" has unscored rewards (${reason}): its outcome must be known.`);
  const own = acted.filter((each) => fixture.players?.[roleOf(each)] === undefined);
  const rewards =
    typeof expected === "number" ? Object.fromEntries(own.map((agent) => [agent, expected])) : { ...expected };
  for (const [agent, reward] of Object.entries(rewards)) {
    const total = totals[agent] ?? 0;
    assert(
      Math.abs(total - reward) <= 1e-9,
      `Agent "${agent}" earned ${total} in fixture "${fixture.name}", not ${reward}, in the task ${start.task ?? "without a name"}; its last reward: ${JSON.stringify(steps.at(-1)?.rewards[agent])}.`,
    );
  }
  const missing = own.find((agent) => !Object.hasOwn(rewards, agent));
  assert(missing === undefined, `Fixture "${fixture.name}" states no reward of agent "${missing}", which it plays.`);
  await checkRewardsOf(
    subject.definition,
    { name: fixture.name, options: subject.ref(fixture.options).options },
    transcript,
  );
}

/** Checks that an episode has the same bytes when it is played alone, and while another session is open. */
async function checkDeterminism(subject: Subject, fixture: Fixture): Promise<void> {
  const { determinism } = await subject.describe(fixture.options);
  assert(
    determinism !== "none",
    `Fixture "${fixture.name}" is of the kind determinism, and under its options the environment promises none.`,
  );
  const play = (): Promise<string> =>
    withSession(subject, fixture.options, async (session) => serialise(await playFixture(subject, fixture, session)));
  const alone = await play();
  const beside = await Promise.all([play(), play()]);
  assert.deepEqual(
    beside,
    [alone, alone],
    `Fixture "${fixture.name}" was played three times and was not the same each time.`,
  );
  const again = await withSession(subject, fixture.options, async (session) => {
    await playFixture(subject, fixture, session);
    return serialise(await playFixture(subject, fixture, session));
  });
  assert.equal(
    again,
    alone,
    `Fixture "${fixture.name}" differs in the second episode of a session: something is left over from the first.`,
  );
}
