import { describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import { type Action, type EnvironmentDefinition, MrlmError, type Policy, score } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { type EpisodeCounts, episodeMetrics, learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import { overGrpc } from "@mrlm/testing";
import { counterEnvironment } from "./support/counter-environment.ts";
import { relayEnvironment } from "./support/relay-environment.ts";
import { collect, localHost, runner, withoutSeconds } from "./support/rollouts.ts";

const LIMIT = 60;
const long = [textMessage("user", "abcdefgh".repeat(3))];
const once = { tasks: ["train/0"], groupSize: 1, sampling: { temperature: 1, maxTokens: 4 } };

async function play(definition: EnvironmentDefinition<any>, host?: EnvironmentHost) {
  const played = await runner({ host: host ?? (await localHost(definition)), tokenLimit: () => LIMIT });
  const [group] = await collect(played, once);
  const trajectory = group?.trajectories[0];
  if (trajectory === undefined) throw new Error("no episode was played");
  return trajectory;
}

describe("an agent whose context is full", () => {
  test("takes no further turn; the environment continues without it and receives exhausted exactly once", async () => {
    const actions: Action[] = [];
    const { turns, agents, error } = await play(relayEnvironment({ onAction: (action) => actions.push(action) }));
    expect(error).toBeUndefined();
    const spent = actions.filter(({ finishReason }) => finishReason === "exhausted");
    expect(spent).toEqual([{ agent: "a", message: { role: "assistant", parts: [] }, finishReason: "exhausted" }]);
    const at = actions.indexOf(spent[0] as Action);
    expect(at).toBeGreaterThan(1);
    expect(actions.slice(at + 1).map(({ agent }) => agent)).toEqual(Array(actions.length - at - 1).fill("b"));
    expect(actions).toHaveLength(9);
    expect(agents["a"]?.end).toEqual({ terminated: false, truncated: true, truncatedBy: "tokens" });
    expect(agents["b"]?.end).toEqual({ terminated: true, truncated: false });
    // Its last observation is no part of its tokens, and its reward of the last step is kept.
    const own = turns.filter(({ agent }) => agent === "a");
    expect(own.at(-1)).toMatchObject({ stopReason: "exhausted", response: { parts: [] }, rewards: { a: score(0.5) } });
    expect(own.at(-1)?.tokens).toBeUndefined();
    expect(agents["a"]?.total).toEqual(score(own.length - 1 + 0.5));
    expect(agents["a"]?.segments.at(-1)?.tokens).toHaveLength(own.at(-2)?.tokens?.end as number);
  });

  test("ends the episode without a step where no other agent is still playing", async () => {
    const actions: Action[] = [];
    const only = relayEnvironment({
      onAction: (action) => actions.push(action),
      change: (result) => ({ ...result, observation: { ...result.observation, agent: "a" }, terminated: { b: true } }),
    });
    const { agents, turns } = await play(only);
    expect(actions.every(({ finishReason }) => finishReason !== "exhausted")).toBe(true);
    expect(turns).toHaveLength(actions.length);
    expect(agents["a"]?.end).toEqual({ terminated: false, truncated: true, truncatedBy: "tokens" });
  });

  test("leaves the end to the environment, which may end the episode for all", async () => {
    const ending = relayEnvironment({
      change: (result, { finishReason }) =>
        finishReason === "exhausted"
          ? {
              ...result,
              observation: { agent: "", messages: [] },
              terminated: { a: true, b: true },
              rewards: { a: score(-1), b: score(1) },
            }
          : result,
    });
    const { agents } = await play(ending);
    expect(agents["a"]?.end).toEqual({ terminated: true, truncated: false });
    expect(agents["b"]?.end).toEqual({ terminated: true, truncated: false });
  });

  test("must not be on turn again: the error names the environment and the agent", async () => {
    const stubborn = relayEnvironment({
      change: (result, { agent, finishReason }) =>
        finishReason === "exhausted" ? { ...result, observation: { agent, messages: [] } } : result,
    });
    expect((await play(stubborn)).error).toMatchObject({
      code: "ENVIRONMENT_FAILED",
      message: expect.stringMatching(/Environment counter@1 .*"a" is exhausted: its context is full/),
    });
    const later = relayEnvironment({
      change: (result, { agent }) =>
        agent === "b" ? { ...result, observation: { agent: "a", messages: long } } : result,
    });
    const { error, turns } = await play(later);
    expect(turns.at(-1)?.stopReason).toBe("exhausted");
    expect(error?.message).toMatch(/"a" is exhausted/);
  });

  test("is truncated though the environment states that it is not", async () => {
    const denying = relayEnvironment({
      change: (result, { finishReason }) =>
        finishReason === "exhausted" ? { ...result, truncated: { a: false } } : result,
    });
    expect((await play(denying)).agents["a"]?.end).toMatchObject({ truncatedBy: "tokens" });
  });

  test("without room at the first turn of a model fails the episode, also after a script", async () => {
    const [group] = await collect(
      await runner({ host: await localHost(relayEnvironment()), tokenLimit: () => 3 }),
      once,
    );
    expect(group?.trajectories[0]?.error).toMatchObject({ code: "SEQUENCE_TOO_LONG" });
    const script: Policy = {
      act: async ({ agent }) => ({ agent, message: textMessage("assistant", "ab"), finishReason: "stop" }),
    };
    const [afterScript] = await collect(
      await runner({ host: await localHost(relayEnvironment()), tokenLimit: () => 3 }),
      {
        ...once,
        players: {
          a: { kind: "scripted", name: "opener", isOutside: false, open: async () => script },
          b: { kind: "policy", policy: "policy" },
        },
      },
    );
    expect(afterScript?.trajectories[0]).toMatchObject({ error: { code: "SEQUENCE_TOO_LONG" }, turns: { length: 1 } });
  });

  test("is learnt from up to its last message, and no metric counts an answer that it did not give", async () => {
    const trajectory = await play(relayEnvironment());
    const counts: EpisodeCounts = noEpisodeCounts();
    const parts = learnableEpisodes(trajectory, { policy: "policy", dropCut: false }, counts);
    expect(parts.map(({ agent }) => agent)).toEqual(["a", "b"]);
    const group = { id: "g", task: "train/0", players: {}, trajectories: [trajectory] };
    expect(episodeMetrics([group], counts, { policy: "policy" })["length/cut"]).toMatchObject({ count: 8 });
    expect(
      learnableEpisodes(trajectory, { policy: "policy", dropCut: true }, counts).map(({ agent }) => agent),
    ).toEqual([]);
  });
});

test("a session that is lost repeats the exhausted step, and its episode is the same", async () => {
  const expected = withoutSeconds(
    await collect(await runner({ host: await localHost(relayEnvironment()), tokenLimit: () => LIMIT }), once),
  );
  const inner = await localHost(relayEnvironment());
  for (let dieAt = 1; dieAt <= 9; dieAt++) {
    const repeated: string[] = [];
    let steps = 0;
    let opened = 0;
    const host: EnvironmentHost = {
      list: () => inner.list(),
      describe: (ref) => inner.describe(ref),
      demonstrate: (ref, tasks) => inner.demonstrate(ref, tasks),
      close: async () => undefined,
      async open(ref) {
        const session = await inner.open(ref);
        opened++;
        return {
          description: session.description,
          reset: (options) => session.reset(options),
          close: () => session.close(),
          step: async (action, options) => {
            if (opened === 1 && ++steps === dieAt) throw new MrlmError("SESSION_NOT_FOUND", "the server was restarted");
            if (opened === 2) repeated.push(action.finishReason);
            return session.step(action, options);
          },
        };
      },
    };
    const groups = await collect(await runner({ host, tokenLimit: () => LIMIT }), once);
    expect(withoutSeconds(groups)).toEqual(expected);
    expect(repeated.filter((reason) => reason === "exhausted")).toHaveLength(1);
  }
  await inner.close();
});

describe("over gRPC", () => {
  test("the finish reason exhausted and a fresh start arrive", async () => {
    const fresh = relayEnvironment({
      change: (result) =>
        result.observation.agent === "b"
          ? { ...result, observation: { ...result.observation, isFresh: true } }
          : result,
    });
    const local = await localHost(fresh);
    const remote = await overGrpc()(local);
    const here = await play(fresh);
    const there = await play(fresh, remote);
    expect({ ...there, seconds: 0 }).toEqual({ ...here, seconds: 0 });
    expect(here.agents["b"]?.segments.length).toBeGreaterThan(2);
    await remote.close();
    await local.close();
  });

  test("a server without roles never receives it: the episode ends for all on the side of the client", async () => {
    const actions: Action[] = [];
    const local = await localHost(relayEnvironment({ onAction: (action) => actions.push(action) }));
    const old: EnvironmentHost = {
      list: async () => [],
      describe: async (ref) => ({ ...(await local.describe(ref)), lacksExhausted: true }),
      demonstrate: async () => [],
      open: (ref) => local.open(ref),
      close: async () => undefined,
    };
    const remote = await overGrpc()(old);
    const { agents, error } = await play(relayEnvironment(), remote);
    expect(error).toBeUndefined();
    expect(actions.every(({ finishReason }) => finishReason !== "exhausted")).toBe(true);
    for (const agent of ["a", "b"])
      expect(agents[agent]?.end).toEqual({ terminated: false, truncated: true, truncatedBy: "tokens" });
    const session = await remote.open({ id: "counter" });
    const { signal } = new AbortController();
    await session.reset({ task: "train/0", signal });
    const spent: Action = { agent: "a", message: { role: "assistant", parts: [] }, finishReason: "exhausted" };
    await expect(session.step(spent, { signal })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("does not know the finish reason exhausted"),
    });
    await session.close();
    await remote.close();
    await local.close();
  });
});

test("an exhausted agent sends no message", async () => {
  const session = await (await localHost(counterEnvironment())).open({ id: "counter" });
  const { signal } = new AbortController();
  await session.reset({ task: "train/0", signal });
  const parts = [{ type: "text", text: "?" }] as const;
  const wordy: Action = { agent: "agent", message: { role: "assistant", parts }, finishReason: "exhausted" };
  await expect(session.step(wordy, { signal })).rejects.toMatchObject({ code: "OPTIONS_INVALID" });
});
