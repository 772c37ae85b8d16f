import assert from "node:assert/strict";
import { type Action, type Determinism, type Fixture, type Observation, roleOf } from "@mrlm/spec";
import { setTimeout as delay } from "node:timers/promises";
import { textMessage } from "@mrlm/kit";
import { Defect } from "../check/defect.ts";
import type { EnvironmentCheck } from "./environment-check.ts";
import { expectCode } from "./expect-code.ts";
import { serialise } from "./serialise.ts";
import { assertAllEnded, never, playFixture, withSession } from "./play.ts";
import type { Subject } from "./subject.ts";

/** Times after the begin of a call at which its session is closed: 0 to this, in milliseconds. */
const CLOSED_AFTER_MS = 3;

/** Checks of a session: description, seeds, order of calls, close and abort. */
export const sessionChecks: readonly EnvironmentCheck[] = [
  {
    code: "DESCRIPTION_INVALID",
    name: "describes itself",
    run: async (subject) => {
      const { id, description, roles, determinism, maxTurns } = await subject.describe();
      assert.equal(id, subject.definition.id);
      const stated = subject.definition.determinism;
      const guarantees: readonly Determinism[] = ["none", "replayable", "full"];
      const rank = guarantees.indexOf(determinism);
      assert(rank >= 0, `Its determinism is "${determinism}".`);
      // A toolset can only weaken it. A function of the options can return any of them.
      if (typeof stated !== "function")
        assert(rank <= guarantees.indexOf(stated), `It describes more than its determinism "${stated}".`);
      assert(description.length > 0, "It has no description.");
      assert(Object.keys(roles).length > 0, "It has no roles.");
      assert(Number.isInteger(maxTurns) && maxTurns >= 0, `maxTurns is ${maxTurns}.`);
      assert(
        (await subject.host.list()).some((offered) => offered.id === id),
        "The host's list does not have it.",
      );
      await expectCode(subject.host.open({ id: `${id.split("@")[0]}-no-such@1` }), "ENVIRONMENT_NOT_FOUND");
    },
  },
  {
    code: "OBSERVATION_INVALID",
    name: "starts with an observation to act on",
    run: (subject) =>
      withSession(subject, undefined, async (session) => {
        const observation = await session.reset({ signal: never });
        const roles = Object.keys(session.description.roles);
        assert.deepEqual(session.description, await subject.describe(), "The session has another description.");
        assert(
          roles.includes(roleOf(observation.agent)),
          `"${observation.agent}" is to act, which is not one of ${roles.join(", ")}.`,
        );
        assert(observation.messages.length > 0, "The first observation has no messages.");
        for (const { role } of observation.messages)
          assert.notEqual(role, "assistant", "The environment sent a message of role assistant.");
      }),
  },
  {
    code: "SEED_UNUSED",
    name: "uses a seed, or refuses it",
    run: (subject) =>
      withSession(subject, undefined, async (session) => {
        const reset = (seed: number): Promise<Observation> => session.reset({ seed, signal: never });
        if (session.description.determinism === "none") return expectCode(reset(1), "SEED_REFUSED");
        for (const seed of [0, 7, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]) {
          assert.equal(
            serialise(await reset(seed)),
            serialise(await reset(seed)),
            `Two resets with seed ${seed} differ.`,
          );
        }
        await expectCode(reset(0.5), "OPTIONS_INVALID");
        await expectCode(reset(2 ** 53), "OPTIONS_INVALID");
      }),
  },
  {
    code: "STEP_ORDER",
    name: "is not stepped before a reset, after the end, out of turn, or twice at once",
    run: (subject) =>
      withSession(subject, goldOf(subject)?.options, async (session) => {
        await expectCode(session.step(emptyAction("agent"), { signal: never }), "EPISODE_ENDED");
        const { agent } = await session.reset({ signal: never });
        await expectCode(session.step(emptyAction("unknown agent"), { signal: never }), "STEP_OUT_OF_ORDER");
        await expectCode(
          session.step({ ...emptyAction(agent), message: textMessage("user", "?") }, { signal: never }),
          "OPTIONS_INVALID",
        );
        const first = session.step(emptyAction(agent), { signal: never });
        await expectCode(session.step(emptyAction(agent), { signal: never }), "SESSION_BUSY");
        await first;
        const gold = goldOf(subject);
        if (gold === undefined) return;
        const { steps } = await playFixture(subject, gold, session);
        assertAllEnded(steps);
        await expectCode(session.step(emptyAction(agent), { signal: never }), "EPISODE_ENDED");
      }),
  },
  {
    code: "CLOSE_FAILED",
    name: "can be closed twice, and refuses calls afterwards",
    run: async (subject) => {
      const session = await subject.host.open(subject.ref());
      await session.reset({ signal: never });
      await session.close();
      await session.close();
      await expectCode(session.reset({ signal: never }), "SESSION_NOT_FOUND");
      await expectCode(session.step(emptyAction("agent"), { signal: never }), "SESSION_NOT_FOUND");
      const unused = await subject.host.open(subject.ref());
      await unused.close();
    },
  },
  {
    code: "CLOSE_FAILED",
    name: "can be closed beside a running call",
    run: async (subject) => {
      for (const call of ["reset", "step"] as const)
        for (let afterMs = 0; afterMs < CLOSED_AFTER_MS; afterMs++) {
          const session = await subject.host.open(subject.ref());
          const { agent } = call === "reset" ? { agent: "" } : await session.reset({ signal: never });
          const running =
            call === "reset" ? session.reset({ signal: never }) : session.step(emptyAction(agent), { signal: never });
          // Its rejection is read below.
          running.catch(() => undefined);
          if (afterMs > 0) await delay(afterMs);
          await session.close().catch((error: unknown) => {
            const message = `close beside a running ${call} failed: ${(error as Error).message}`;
            throw new Defect("CLOSE_FAILED", message, { cause: error });
          });
          await running.catch((error: unknown) => expectCode(Promise.reject(error), "SESSION_NOT_FOUND", "CANCELLED"));
        }
    },
  },
  {
    code: "ABORT_IGNORED",
    name: "can be aborted, and starts again",
    run: (subject) =>
      withSession(subject, undefined, async (session) => {
        await expectCode(session.reset({ signal: AbortSignal.abort() }), "CANCELLED");
        const { agent } = await session.reset({ signal: never });
        const controller = new AbortController();
        const step = session.step(emptyAction(agent), { signal: controller.signal });
        controller.abort();
        await expectCode(step, "CANCELLED");
        await expectCode(session.step(emptyAction(agent), { signal: never }), "EPISODE_ENDED");
        await session.reset({ signal: never });
      }),
  },
];

function goldOf(subject: Subject): Fixture | undefined {
  return subject.fixtures.find(({ kind }) => kind === "gold");
}

function emptyAction(agent: string): Action {
  return { agent, message: textMessage("assistant", "?"), finishReason: "stop" };
}
