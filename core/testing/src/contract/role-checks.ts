import assert from "node:assert/strict";
import { type Action, type EnvironmentDefinition, roleOf, SINGLE_AGENT, type StepResult } from "@mrlm/spec";
import type { EnvironmentCheck } from "./environment-check.ts";
import { serialise } from "./serialise.ts";
import {
  assertAllEnded,
  livingAgents,
  type Player,
  never,
  playEpisode,
  playFixture,
  scriptedPlayer,
  type Transcript,
  withSession,
} from "./play.ts";
import type { Subject } from "./subject.ts";

/** Returns the checks of an environment's roles and scripted policies. An environment of one agent without scripted policies has none. */
export function roleChecks({
  roles = { [SINGLE_AGENT]: {} },
  scriptedPolicies = {},
}: EnvironmentDefinition): EnvironmentCheck[] {
  const hasSeveral =
    typeof roles === "function" ||
    Object.keys(roles).length > 1 ||
    Object.values(roles).some(({ many }) => many === true);
  return [
    ...(hasSeveral ? [everyRole, withoutExhausted] : []),
    ...Object.keys(scriptedPolicies).map((name) => ({
      code: "SCRIPTED_POLICY_FAILED" as const,
      about: name,
      name: `scripted policy "${name}" plays every role to the end`,
      run: (subject: Subject) => checkScripted(subject, name),
    })),
  ];
}

const everyRole: EnvironmentCheck = {
  code: "ROLE_IDLE",
  name: "every role is played in a fixture",
  async run(subject) {
    const acted = new Set<string>();
    for (const fixture of subject.fixtures) {
      const played = await withSession(subject, fixture.options, (session) => playFixture(subject, fixture, session));
      for (const agent of played.acted) acted.add(roleOf(agent));
    }
    const { roles } = await subject.describe();
    const idle = Object.keys(roles).filter((role) => !acted.has(role));
    assert(
      idle.length === 0,
      `No fixture has a turn of role ${idle.join(", ")}. Add a fixture in which each role acts, or remove the role.`,
    );
  },
};

/** Each agent of the gold episodes in turn runs out of context, at its first turn after the first step at which another agent plays. */
const withoutExhausted: EnvironmentCheck = {
  code: "EXHAUSTED_AGENT",
  name: "continues without an agent whose context is full, or ends",
  async run(subject) {
    for (const fixture of subject.fixtures.filter(({ kind }) => kind === "gold")) {
      const play = (change?: Parameters<typeof playFixture>[3]): Promise<Transcript> =>
        withSession(subject, fixture.options, (session) => playFixture(subject, fixture, session, change));
      for (const agent of (await play()).acted) {
        let isExhausted = false;
        const { steps } = await play((action, before) => {
          const others = livingAgents(before).filter((other) => other !== agent);
          if (action.agent !== agent || others.length === 0 || isExhausted) return action;
          isExhausted = true;
          return { agent, message: { role: "assistant", parts: [] }, finishReason: "exhausted" };
        }).catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          throw new Error(`After agent "${agent}" ran out of context in fixture "${fixture.name}": ${reason}`, {
            cause: error,
          });
        });
        assertAllEnded(steps);
      }
    }
  },
};

async function checkScripted(subject: Subject, name: string): Promise<void> {
  const label = `scripted policy "${name}"`;
  const { determinism } = await subject.describe();
  const play = async (): Promise<{ readonly actions: readonly Action[]; readonly steps: readonly StepResult[] }> => {
    const actions: Action[] = [];
    const player = scriptedPlayer(subject, () => ({ scripted: name }), undefined);
    const recording: Player = async (observation, at) => {
      const action = await player(observation, at);
      actions.push(action);
      return action;
    };
    const { steps } = await withSession(subject, undefined, async (session) => {
      const seed = determinism === "none" ? {} : { seed: 1 };
      return playEpisode(session, await session.reset({ ...seed, signal: never }), recording, label);
    });
    return { actions, steps };
  };
  const played = await play();
  assertAllEnded(played.steps);
  if (determinism === "full")
    assert.equal(serialise(await play()), serialise(played), `The ${label} acted differently with the same seed.`);
}
