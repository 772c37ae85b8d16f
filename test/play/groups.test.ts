import { beforeAll, expect, test } from "@jest/globals";
import { definePlugin } from "@mrlm/kit";
import { silentLogger } from "@mrlm/kit/service";
import { characterTokenizerFiles, chatRenderer } from "@mrlm/kit/renderer";
import { LocalHost, PluginHost, RolloutRunner } from "@mrlm/runtime";
import type { AgentTrajectory, RoleId, TrajectoryGroup } from "@mrlm/spec";
import type { PlayedBy, Player, RolloutRequest } from "@mrlm/spec/host";
import { duelEnvironment, recordingEngine } from "@mrlm/testing";
import { opponentDirectory, RIVAL_TOKENIZER } from "./support/opponent.ts";
import { playFaults } from "./support/provenance.ts";

const ALPHABET = { alphabet: "abcd0123456789" };
const { engine, asked } = recordingEngine();
const groups: TrajectoryGroup[] = [];
const modelOf = ({ kind }: PlayedBy): string | undefined =>
  ({ policy: "policy", model: "frozen-0" })[kind as string] as string | undefined;
const faults = (played: readonly TrajectoryGroup[]): string[] => playFaults(played, asked.samples, modelOf);

beforeAll(async () => {
  const tokenizerFiles = characterTokenizerFiles(ALPHABET);
  const config = { initializer_range: 0.5, vocab_size: 22, eos_token_id: 1, pad_token_id: 0 };
  const common = { role: "policy", trainable: false } as const;
  await engine.createModel({ ...common, model: "policy", source: { kind: "random", config, seed: 1, tokenizerFiles } });
  await engine.createModel({
    ...common,
    model: "frozen-0",
    source: { kind: "directory", path: await opponentDirectory() },
  });
  const host = new LocalHost({
    source: await PluginHost.of([definePlugin({ name: "test", environments: [duelEnvironment({ rounds: 2 })] })]),
  });
  const renderers = {
    policy: chatRenderer({ tokenizerFiles, eosTokenIds: [1] }),
    "frozen-0": chatRenderer({ tokenizerFiles: characterTokenizerFiles(RIVAL_TOKENIZER), eosTokenIds: [1] }),
  };
  const runner = new RolloutRunner({
    host,
    engine,
    runSeed: 3,
    isDeterministic: true,
    concurrency: 64,
    maxWaitMs: 1000,
    logger: silentLogger,
    renderer: (model) => renderers[model as keyof typeof renderers],
    tokenLimit: () => 512,
    turnLimit: () => 0,
  });
  const policy: Player = { kind: "policy", policy: "policy" };
  const opponents: Player[] = [
    { kind: "model", name: "rival", model: "frozen-0" },
    {
      kind: "scripted",
      name: "random",
      isOutside: false,
      open: ({ seed }) => host.scripted({ id: "duel@1" }, { name: "random", seed }),
    },
  ];
  for (const second of opponents) {
    const request: RolloutRequest = {
      environment: { id: "duel@1" },
      tasks: ["train/0", "train/1", "train/2", "train/3"],
      groupSize: 4,
      players: { first: policy, second },
      sides: "shuffle",
      sampling: { temperature: 1, maxTokens: 8 },
      label: second.kind,
    };
    for await (const group of runner.collect(request)) groups.push(group);
  }
});

test("every member of a group has the players of the group, and each part the tokens of its player", () => {
  expect(groups).toHaveLength(8);
  expect(faults(groups)).toEqual([]);
  expect(new Set(groups.map(({ players }) => players["first"]?.kind))).toEqual(
    new Set(["policy", "model", "scripted"]),
  );
  for (const { players, trajectories } of groups)
    for (const { turns, agents } of trajectories) {
      expect(turns.map(({ agent }) => agent)).toEqual(["first", "second", "first", "second"]);
      for (const { agent, tokens } of turns) expect(tokens === undefined).toBe(players[agent]?.kind === "scripted");
      for (const [role, part] of Object.entries(agents)) expect([part.role, part.total.scored]).toEqual([role, true]);
    }
});

test("scripted policies: members of a group act differently, and the same request gives the same episodes", () => {
  const written = groups
    .filter(({ players }) => Object.values(players).some(({ kind }) => kind === "scripted"))
    .flatMap(({ trajectories }) =>
      trajectories.map(({ turns }) =>
        turns.flatMap(({ tokens, response }) => (tokens === undefined ? [response.parts] : [])).flat(),
      ),
    );
  expect(new Set(written.map((parts) => JSON.stringify(parts))).size).toBeGreaterThan(written.length / 2);
});

const [first, second] = ["first", "second"] as [RoleId, RoleId];
const withMember = (
  group: TrajectoryGroup,
  change: (agents: Readonly<Record<RoleId, AgentTrajectory>>) => Record<RoleId, AgentTrajectory>,
): TrajectoryGroup => ({
  ...group,
  trajectories: group.trajectories.map((member, i) =>
    i === 1 ? { ...member, agents: change(member.agents) } : member,
  ),
});
const against = (kind: string): TrajectoryGroup =>
  groups.find(({ players }) => Object.values(players).some((player) => player.kind === kind)) as TrajectoryGroup;
const swapped = ({ [first]: one, [second]: two }: Readonly<Record<RoleId, AgentTrajectory>>) =>
  ({ one, two }) as {
    readonly one: AgentTrajectory;
    readonly two: AgentTrajectory;
  };

test("mutation, a group with two different opponents: the member with another opponent is named", () => {
  const group = against("model");
  const other: PlayedBy = { kind: "scripted", name: "random" };
  const mutant = withMember(group, (agents) => {
    const parts = Object.entries(agents).map(([role, part]) => [
      role,
      part.player.kind === "policy" ? part : { ...part, player: other, segments: [] },
    ]);
    return Object.fromEntries(parts) as Record<RoleId, AgentTrajectory>;
  });
  expect(faults([mutant])).toEqual([
    expect.stringMatching(/\/1 (first|second): played by random, and its group by rival/),
  ]);
});

test("mutation, swapped roles: tokens of the opponent that are recorded as the policy's are named", () => {
  const mutant = withMember(against("model"), (agents) => {
    const { one, two } = swapped(agents);
    return { first: { ...one, segments: two.segments }, second: { ...two, segments: one.segments } };
  });
  expect(faults([mutant])).toEqual([
    expect.stringMatching(/\/1 first: \d+ tokens that (policy|rival) has not sampled/),
    expect.stringMatching(/\/1 second: \d+ tokens that (policy|rival) has not sampled/),
  ]);
});
