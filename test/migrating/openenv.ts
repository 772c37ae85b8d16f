import assert from "node:assert/strict";
import { connectEnvironments } from "@mrlm/client";
import { definePlugin, singleTurn } from "@mrlm/kit";
import { serveEnvironments } from "@mrlm/server";
import { commands } from "./commands.ts";
import { act, never, numberOf, plugin, withHost, withSession } from "./guessing.ts";
import type { Rows } from "./row.ts";

const secret = singleTurn({
  id: "secret@1",
  description: "The policy writes a word.",
  tasks: () => ({
    splits: { train: 1 },
    get: async () => ({ id: "train/0", public: { shown: "a word" }, private: { word: "xyzzy" } }),
  }),
  prompt: ({ shown }) => shown,
  score: (text, { private: { word } }) => Number(text === word),
});

export const openenv: Rows = {
  "`Environment` with `reset`, `step`, `state`": () =>
    withSession((one) =>
      withSession(async (other) => {
        const numbers = await Promise.all([numberOf(one, 1), numberOf(other, 2)]);
        assert.deepEqual(numbers, [await numberOf(one, 1), await numberOf(other, 2)]);
      }),
    ),
  "`Action`, `Observation`, `State` dataclasses": () =>
    withHost(
      async (host) => {
        const session = await host.open({ id: "secret@1" });
        const first = await session.reset({ task: "train/0", signal: never });
        assert.doesNotMatch(JSON.stringify(first), /xyzzy/);
        const { rewards } = await session.step(act("xyzzy"), { signal: never });
        assert.deepEqual(rewards["agent"], { scored: true, value: 1, components: {} });
        await session.close();
      },
      [definePlugin({ name: "secret", environments: [secret] })],
    ),
  "`create_fastapi_app(env, ...)`, a container for each environment": () =>
    withHost(
      async (host) => {
        const server = await serveEnvironments({ host, address: "127.0.0.1:0" });
        const remote = await connectEnvironments(`127.0.0.1:${server.port}`);
        try {
          const ids = (await remote.list()).map(({ id }) => id);
          assert.deepEqual(ids.sort(), ["guessing@1", "secret@1"]);
        } finally {
          await remote.close();
          await server.close();
        }
      },
      [plugin, definePlugin({ name: "secret", environments: [secret] })],
    ),
  "`EnvClient`, `GenericEnvClient`": () =>
    withHost(async (host) => {
      const server = await serveEnvironments({ host, address: "127.0.0.1:0" });
      const remote = await connectEnvironments(`127.0.0.1:${server.port}`);
      try {
        const session = await remote.open({ id: "guessing@1" });
        const number = await numberOf(session, 4);
        assert.equal(number, await withSession((local) => numberOf(local, 4)));
        await session.close();
      } finally {
        await remote.close();
        await server.close();
      }
    }),
  "`openenv init NAME`": commands.create,
  "`openenv validate`": commands.check,
  "`openenv push`": "publish",
  rubrics: () =>
    withSession(async (session) => {
      await session.reset({ seed: 1, signal: never });
      const { rewards } = await session.step(act("none"), { signal: never });
      assert.deepEqual(rewards["agent"], { scored: true, value: 0, components: { correct: 0 } });
      const { rewards: judged } = await session.step(act("give up"), { signal: never });
      assert.equal(judged["agent"]?.scored, false);
    }),
  "MCP tools of an environment": commands.serveMcp,
};
