import { expect, test } from "@jest/globals";
import { definePlugin, textMessage } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { BigramEngine, duelEnvironment } from "@mrlm/testing";
import { checkPlayers, LocalHost, parseConfig, PluginHost, prepareRun, RolloutRunner } from "@mrlm/runtime";
import { type Action, MrlmError, type Observation, type PolicyEpisode, type PolicySource } from "@mrlm/spec";
import type { SampleRequest } from "@mrlm/spec/host";
import { z } from "zod";
import { TurnGate } from "../src/rollouts/turn-gate.ts";
import { outsidePlayer } from "../src/players/outside-policies.ts";
import { reinforce } from "./support/reinforce.ts";

const answerWith = ({ agent }: Observation, text: string): Action => ({
  agent,
  message: textMessage("assistant", text),
  finishReason: "stop",
});
const options = z.strictObject({ text: z.string().default("a") });
const speaker = (changes: Partial<PolicySource<{ text: string }>> = {}): PolicySource<{ text: string }> => ({
  options,
  open: (_episode, { text }) => ({ act: async (observation) => answerWith(observation, text) }),
  ...changes,
});

/** Prepares a run in which a role of the duel has this player. */
async function prepared(player: string, sources: Readonly<Record<string, PolicySource<{ text: string }>>>) {
  const policies = Object.fromEntries(Object.entries(sources).map(([id, source]) => [id, () => source]));
  const source = await PluginHost.of([
    definePlugin({ name: "duel", environments: [duelEnvironment()], algorithms: [reinforce] }),
    definePlugin({ name: "outside", policies }),
  ]);
  const text = `model: {random: {config: {}}}\nenvironments:\n  - id: duel\n    players: {second: ${player}}\nstages: [{algorithm: reinforce, steps: 1}]\neval: {tasks: 0}\n`;
  const loaded = parseConfig(text, { path: "/run.yaml" });
  await checkPlayers(loaded, source);
  return prepareRun(loaded, { host: new LocalHost({ source }), algorithms: source });
}

/** Plays four episodes of the duel between two sources, and returns them. */
async function play(
  source: PolicySource<{ text: string }>,
  other = speaker(),
  {
    warn = () => undefined,
    isDeterministic = true,
    signal,
  }: { warn?: (text: string) => void; isDeterministic?: boolean; signal?: AbortSignal } = {},
) {
  const host = new LocalHost({
    source: await PluginHost.of([definePlugin({ name: "duel", environments: [duelEnvironment()] })]),
  });
  const runner = new RolloutRunner({
    host,
    engine: new BigramEngine(),
    runSeed: 3,
    isDeterministic,
    concurrency: 4,
    maxWaitMs: 1000,
    logger: { ...silentLogger, warn },
    renderer: () => {
      throw new Error("no model plays");
    },
    tokenLimit: () => 512,
    turnLimit: () => 0,
  });
  const groups = await Array.fromAsync(
    runner.collect({
      environment: { id: "duel@1" },
      tasks: ["train/0", "train/1"],
      groupSize: 2,
      players: {
        first: outsidePlayer("other@1", other, { text: "b" }),
        second: outsidePlayer("speaker@1", source, { text: "a" }),
      },
      sampling: { temperature: 1, maxTokens: 8 },
      label: "test",
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  return groups.flatMap(({ trajectories }) => trajectories);
}

test("a scripted player with a version is a policy of a plugin; its options are parsed before the run", async () => {
  const { environments, notices } = await prepared("{scripted: speaker@1}", { "speaker@1": speaker() });
  expect(environments[0]?.players).toMatchObject({ second: { kind: "scripted", name: "speaker@1", isOutside: true } });
  expect(notices).toEqual([]);
});

test.each([
  [
    "{scripted: speakr@1}",
    'run.yaml:4:34: environments[0].players.second.scripted: no plugin has the policy "speakr@1". Did you mean "speaker@1"?',
  ],
  ["{scripted: speaker@2}", 'no plugin has the policy "speaker@2". Did you mean "speaker@1"?'],
  ["{scripted: speaker}", 'duel@1 has no scripted policy "speaker".'],
  [
    "{scripted: speaker@1, options: {txt: b}}",
    'run.yaml:4:55: unknown key "txt" in environments[0].players.second.options. Did you mean "text"?',
  ],
  [
    "{scripted: speaker@1, options: {text: 1}}",
    "run.yaml:4:61: environments[0].players.second.options.text: must be text",
  ],
  [
    "{scripted: plain@1, options: {text: a}}",
    'run.yaml:4:53: unknown key "text" in environments[0].players.second.options.',
  ],
])("%s is refused at its place", async (player, message) => {
  const { options: _, ...plain } = speaker();
  const work = prepared(player, { "speaker@1": speaker(), "plain@1": plain });
  const error = await work.then(
    () => undefined,
    (thrown: MrlmError) => thrown,
  );
  expect([error?.code, error?.message]).toEqual(["CONFIG_INVALID", expect.stringContaining(message)]);
});

test("an endpoint is played by the policy openai@1, which has its keys as options", async () => {
  const seen: unknown[] = [];
  const source = {
    kind: "endpoint" as const,
    options: z
      .strictObject({ base_url: z.string(), model: z.string(), api_key_env: z.string(), text: z.string().default("a") })
      .refine(({ model }) => model !== "none", { path: ["model"], error: "is no model" }),
    open: (_episode: PolicyEpisode, given: unknown) => {
      seen.push(given);
      return { act: async (observation: Observation) => answerWith(observation, "a") };
    },
  };
  const run = (rest: string) =>
    prepared(`{endpoint: "http://h:1/v1", api_key_env: KEY, ${rest}}`, { "openai@1": source as never });
  const { environments } = await run("model: m");
  const players = environments[0]?.players;
  const second = typeof players === "object" ? players["second"] : undefined;
  expect(second).toMatchObject({ kind: "endpoint", name: "m@h:1", isOutside: true });
  if (second === undefined || !("open" in second)) throw new Error("no policy of a plugin");
  await second.open({ signal: new AbortController().signal } as PolicyEpisode);
  expect(seen).toEqual([{ base_url: "http://h:1/v1", model: "m", api_key_env: "KEY", text: "a" }]);
  await expect(run("model: none")).rejects.toThrow(/4:7\d: environments\[0\]\.players\.second\.model: is no model/);
  await expect(run("model: m, options: {model: n}")).rejects.toThrow("options.model is stated twice");
  await expect(run("model: m, options: {txt: n}")).rejects.toThrow('unknown key "txt"');
  const none = prepared('{endpoint: "http://h:1/v1", model: m}', {});
  await expect(none).rejects.toThrow('no plugin has the policy "openai@1"');
});

test("a source whose answers can differ is a notice of the run, at the player", async () => {
  const { notices } = await prepared("{scripted: speaker@1}", { "speaker@1": speaker({ determinism: "replayable" }) });
  expect(notices).toEqual([expect.stringMatching(/run\.yaml:4:23: .*answers can differ between two runs/)]);
});

test("each agent of an episode has a policy of its own, with the same seed in a repeated episode, closed at its end", async () => {
  const opened: Omit<PolicyEpisode, "signal">[] = [];
  let closed = 0;
  const source = speaker({
    open: ({ signal: _, ...episode }, { text }) => {
      opened.push(episode);
      return { act: async (observation) => answerWith(observation, text), close: async () => void closed++ };
    },
  });
  const episodes = await play(source);
  expect(opened[0]).toEqual({
    environment: "duel@1",
    task: "train/0",
    role: "second",
    agent: "second",
    seed: expect.any(Number),
    sampling: { temperature: 1, maxTokens: 8 },
  });
  expect([new Set(opened.map(({ seed }) => seed)).size, closed]).toEqual([4, 4]);
  expect(episodes.map(({ agents }) => agents["second"]?.total)).toEqual(
    Array.from({ length: 4 }, () => expect.objectContaining({ value: 1 })),
  );
  expect(episodes[0]?.turns[1]).not.toHaveProperty("tokens");
  expect(episodes[0]?.seconds.players).toBeGreaterThanOrEqual(0);
  const first = opened.map(({ seed }) => seed);
  await play(source);
  expect(opened.slice(4).map(({ seed }) => seed)).toEqual(first);
});

const failing = (fault: (observation: Observation) => unknown) => {
  let count = 0;
  return speaker({
    // The second of four episodes has the fault.
    open: () => {
      const isFaulty = count++ % 4 === 1;
      return { act: async (observation) => (isFaulty ? fault(observation) : answerWith(observation, "a")) as Action };
    },
  });
};
const fails = (error: Error) => () => {
  throw error;
};

test.each<[string, PolicySource<{ text: string }>, string, RegExp]>([
  [
    "an exception",
    failing(fails(new TypeError("no key"))),
    "PLAYER_FAILED",
    /^Policy speaker@1 threw in act: TypeError: no key/,
  ],
  ["an error with a code", failing(fails(new MrlmError("SCORER_FAILED", "429"))), "SCORER_FAILED", /^429$/],
  [
    "an error code of the whole run",
    failing(fails(new MrlmError("ENGINE_UNAVAILABLE", "gone"))),
    "PLAYER_FAILED",
    /failed with ENGINE_UNAVAILABLE: gone/,
  ],
  ["no action", failing(() => undefined), "PLAYER_FAILED", /returned something malformed from act/],
  [
    "another agent's action",
    failing((seen) => answerWith({ ...seen, agent: "first" }, "a")),
    "PLAYER_FAILED",
    /acted as "first"/,
  ],
  [
    "no end",
    { ...failing(() => new Promise(() => undefined)), timeoutMs: 30 },
    "PLAYER_FAILED",
    /took longer than 30 ms/,
  ],
])("%s fails its episode with a code, and no other", async (_what, source, code, message) => {
  for (const isDeterministic of [true, false]) {
    const episodes = await play(source, speaker(), { isDeterministic });
    const failed = episodes.filter(({ error }) => error !== undefined);
    expect(failed.map(({ error }) => error)).toEqual([{ code, message: expect.stringMatching(message) }]);
    const others = episodes.filter(({ error }) => error === undefined);
    expect(others.map(({ agents }) => agents["second"]?.total)).toEqual(
      Array.from({ length: 3 }, () => expect.objectContaining({ scored: true, value: 1 })),
    );
  }
});

test.each([true, false])(
  "an interrupt ends turns that a policy never ends (deterministic: %s)",
  async (isDeterministic) => {
    const stop = new AbortController();
    const waiting = speaker({
      open: () => ({
        act: () => {
          stop.abort(new Error("interrupted"));
          return new Promise(() => undefined);
        },
      }),
    });
    const playing = play(waiting, speaker(), { isDeterministic, signal: stop.signal });
    await expect(playing).rejects.toMatchObject({ code: "CANCELLED" });
  },
);

test("a policy that cannot be closed is a warning, and neither fails nor holds its episode", async () => {
  const warnings: string[] = [];
  const closing = (close: () => Promise<void>): PolicySource<{ text: string }> =>
    speaker({ timeoutMs: 30, open: () => ({ act: async (seen) => answerWith(seen, "a"), close }) });
  const broken = closing(() => Promise.reject(new Error("busy")));
  const endless = closing(() => new Promise(() => undefined));
  const episodes = await play(broken, endless, { warn: (text) => warnings.push(text) });
  expect(episodes.map(({ error }) => error)).toEqual([undefined, undefined, undefined, undefined]);
  const texts = warnings.map((text) => text.replace(/^.* could not be closed: /, ""));
  expect(new Set(texts)).toEqual(new Set(["busy", "Policy other@1 took longer than 30 ms."]));
});

test("a source that cannot open fails every episode, with its code", async () => {
  const episodes = await play(speaker({ open: () => Promise.reject(new Error("no engine")) }));
  expect(episodes.map(({ error }) => error?.code)).toEqual(Array.from({ length: 4 }, () => "PLAYER_FAILED"));
  const [first] = await play(speaker({ open: () => ({}) as never }));
  expect(first?.error?.message).toBe("Policy speaker@1 has no act().");
});

test("the time in which only policies of plugins keep the gate closed is reported to each request of the wave", async () => {
  const sampled = { tokens: new Int32Array(), stopReason: "stop" };
  const sampler = { sample: async () => sampled, barrier: () => undefined, close: async () => undefined };
  const gate = new TurnGate(
    async () => sampler as never,
    () => 0,
    new AbortController().signal,
  );
  const held: number[] = [];
  const request = (order: number) => gate.sample(order, "policy", {} as SampleRequest, (seconds) => held.push(seconds));
  gate.enter();
  gate.enter();
  await Promise.all([request(0), request(1)]);
  expect(held).toEqual([0, 0]);
  const act = Promise.withResolvers<void>();
  const turn = gate.outside(() => act.promise);
  const first = request(0);
  // Nothing is held while the environment of another episode works.
  gate.enter();
  gate.leave();
  act.resolve();
  await turn;
  await Promise.all([first, request(1)]);
  expect(held.slice(2)).toEqual([expect.any(Number), 0]);
  expect(held[2]).toBeGreaterThan(0);
});
