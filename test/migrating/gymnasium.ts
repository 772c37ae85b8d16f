import assert from "node:assert/strict";
import { connectEnvironments } from "@mrlm/client";
import { randomStream } from "@mrlm/kit";
import { serveEnvironments } from "@mrlm/server";
import { MrlmError, score, unscored } from "@mrlm/spec";
import { environmentContract } from "@mrlm/testing";
import nimPlugin from "@mrlm/environment-nim";
import { act, call, guessing, never, numberOf, plugin, withHost, withSession } from "./guessing.ts";
import type { Rows } from "./row.ts";

export const gymnasium: Rows = {
  "`gymnasium.Env`": () =>
    withSession(async (session) => {
      await assert.rejects(session.step(act("1"), { signal: never }), /before any reset/);
      assert.equal((await session.reset({ seed: 1, signal: never })).agent, "agent");
      await session.step(act("1"), { signal: never });
    }),
  '`register(id="Chess-v1", ...)`': async () => {
    assert.deepEqual(
      plugin.environments?.map(({ id }) => id),
      ["guessing@1"],
    );
    await withHost(async (host) => assert.equal((await host.describe({ id: "guessing" })).id, "guessing@1"));
  },
  '`gymnasium.make("Chess-v1")`': () =>
    withHost(async (host) => {
      const server = await serveEnvironments({ host, address: "127.0.0.1:0" });
      const remote = await connectEnvironments(`127.0.0.1:${server.port}`);
      try {
        const session = await remote.open({ id: "guessing@1" });
        assert.equal((await session.reset({ seed: 1, signal: never })).agent, "agent");
        await session.close();
      } finally {
        await remote.close();
        await server.close();
      }
    }),
  "`reset(seed=..., options=...)`": async () => {
    const shown = (most: number) =>
      withSession(async (session) => JSON.stringify(await session.reset({ seed: 1, signal: never })), { most });
    assert.match(await shown(5), /from 0 to 5/);
    assert.equal(await shown(5), await shown(5));
  },
  "`observation` of any space": () =>
    withSession(async (session) => {
      const { agent, messages, tools } = await session.reset({ seed: 1, signal: never });
      assert.deepEqual([agent, messages.length, tools?.[0]?.name], ["agent", 1, "hint"]);
    }),
  "`action` of any space": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { observation } = await session.step(call("hint"), { signal: never });
      assert.equal(observation.messages[0]?.role, "tool");
    }),
  "`step` returns `(obs, reward, terminated, truncated, info)`": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { observation, rewards, terminated, truncated } = await session.step(act("none"), { signal: never });
      assert.deepEqual(
        [observation.agent, Object.keys(rewards), terminated, truncated],
        ["agent", ["agent"], { agent: false }, { agent: false }],
      );
    }),
  "`reward` is a number": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { rewards } = await session.step(act("give up"), { signal: never });
      assert.deepEqual(rewards["agent"], unscored("JUDGE_UNDECIDED", "No text."));
      assert.deepEqual(score(0.5, { part: 0.5 }), { scored: true, value: 0.5, components: { part: 0.5 } });
    }),
  "`TimeLimit(max_episode_steps=...)`": () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const ends: unknown[] = [];
      for (let turn = 0; turn < 3; turn++)
        ends.push((await session.step(act("none"), { signal: never })).truncated["agent"]);
      assert.deepEqual(ends, [false, false, true]);
      await session.reset({ seed: 1, signal: never });
      await assert.rejects(session.step(act("wait"), { signal: never }), (error) =>
        MrlmError.hasCode(error, "DEADLINE_EXCEEDED"),
      );
    }),
  "`self.np_random`": () =>
    withSession(async (session) => {
      const numbers: number[] = [];
      for (const seed of [1, 2, 1]) numbers.push(await numberOf(session, seed));
      assert.equal(numbers[0], numbers[2]);
      assert.equal(randomStream("number", 1).integer(0, 9), randomStream("number", 1).integer(0, 9));
    }),
  "`gymnasium.utils.env_checker.check_env`": async () => {
    const tests: (() => Promise<void>)[] = [];
    const registry = {
      describe: (_name: string, body: () => void) => body(),
      test: (_name: string, body: () => Promise<void>) => void tests.push(body),
    };
    environmentContract({ plugins: [nimPlugin], environment: "nim@1", registry });
    assert(tests.length > 20);
    for (const body of tests) await body();
  },
  "`gymnasium.vector.AsyncVectorEnv`": () =>
    withHost(async (host) => {
      const sessions = await Promise.all(Array.from({ length: 500 }, () => host.open({ id: "guessing@1" })));
      const first = await Promise.all(sessions.map((session, seed) => session.reset({ seed, signal: never })));
      assert.equal(first.length, 500);
      await Promise.all(sessions.map((session) => session.close()));
    }),
  "`observation_space`, `action_space`": () =>
    withHost(async (host) => {
      const { optionsJsonSchema } = await host.describe({ id: "guessing@1" });
      assert.deepEqual(Object.keys(optionsJsonSchema?.["properties"] as object), ["most"]);
      assert.equal(guessing.rewardComponents?.[0], "correct");
    }),
};
