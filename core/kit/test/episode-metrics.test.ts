import { expect, test } from "@jest/globals";
import { type JsonValue, type Reward, score, type Trajectory, unscored } from "@mrlm/spec";
import { episodeMetrics, noEpisodeCounts } from "../src/learning.ts";

const player = { kind: "policy", name: "policy", policy: "policy" } as const;
const episode = (total: Reward, mask: number[], changes: Partial<Trajectory> = {}): Trajectory =>
  ({
    turns: [
      { agent: "agent", messages: [], response: { role: "assistant", parts: [] }, stopReason: "stop" },
      { agent: "agent", messages: [], response: { role: "assistant", parts: [] }, stopReason: "length" },
    ],
    agents: {
      agent: {
        role: "agent",
        player,
        segments: [
          {
            mask: Uint8Array.from(mask),
            logprobs: Float32Array.from(mask, (bit) => -0.5 * bit),
            versions: Int32Array.from(mask, (bit, t) => (bit === 1 ? 3 + t : -1)),
          },
        ],
        total,
        end: { terminated: true, truncated: false },
      },
    },
    seconds: { sampling: 3, environment: 1 },
    ...changes,
  }) as unknown as Trajectory;
const groups = [
  {
    id: "group",
    task: "train/0",
    players: { agent: player },
    trajectories: [
      episode(score(1, { correct: 1, neat: 1 }), [0, 1, 1, 0, 0, 1]),
      episode(score(0, { correct: 0 }), [0, 1]),
      episode(unscored("JUDGE_FAILED", "down"), [0, 1, 1]),
      episode(score(9), [0, 1], { error: { code: "ENVIRONMENT_FAILED", message: "gone" } }),
    ],
  },
];

test("numerics 35, 54: lengths count what the policy chose; episodes without a score are in no mean of rewards, and a component only where it was given", () => {
  expect(episodeMetrics(groups, { ...noEpisodeCounts(), failed: 1, unscored: 1 }, { policy: "policy" })).toMatchObject({
    "reward/mean": { sum: 1, count: 2 },
    "reward/std": Math.SQRT1_2,
    "reward/correct": { sum: 1, count: 2 },
    "reward/neat": { sum: 1, count: 1 },
    "episodes/failed": 1,
    "episodes/unscored": 1,
    "length/mean": { sum: 6, count: 3 },
    "length/cut": { sum: 3, count: 6 },
    "episodes/played": 4,
    "episodes/truncated": { sum: 0, count: 3 },
    "entropy/sampled": { sum: 3, count: 6 },
    "versions/lag": 4,
    "turns/mean": { sum: 6, count: 3 },
  });
});

test("the shared reward stands beside that of the environment, where roles share rewards", () => {
  const [group] = groups as [(typeof groups)[number]];
  const parted = (shared: Reward): Trajectory => {
    const played = episode(score(1), [0, 1]);
    const agents = { agent: { ...played.agents["agent"], shared: { ...shared, weights: { main: 0.5 } } } };
    return { ...played, agents } as Trajectory;
  };
  const trajectories = [parted(score(0.5)), parted(score(0.25)), parted(unscored("JUDGE_FAILED", "down"))];
  expect(episodeMetrics([{ ...group, trajectories }], noEpisodeCounts(), { policy: "policy" })).toMatchObject({
    "reward/mean": { sum: 3, count: 3 },
    "reward/shared_mean": { sum: 0.75, count: 2 },
    "reward/shared_std": Math.SQRT2 / 8,
  });
  expect(episodeMetrics(groups, noEpisodeCounts(), { policy: "policy" })).not.toHaveProperty("reward/shared_mean");
});

test("usage of tools is a mean over the episodes played, and values of another form are ignored", () => {
  const usage = (calls: number, errors: number) => ({ calls, errors, truncated: 0, seconds: 0.5 });
  const infos: readonly Trajectory["info"][] = [
    { tools: { calculator: usage(3, 1), search: usage(1, 0) } },
    { tools: { calculator: usage(1, 0) } },
    {},
    { tools: { "a b": usage(1, 0), other: "three", negative: usage(-1, 0), none: null, list: [] } },
    { tools: ["calculator"] },
  ];
  const [group] = groups as [(typeof groups)[number]];
  const played = infos.map((info) => episode(score(1), [1], info === undefined ? {} : { info }));
  const failed = episode(score(1), [1], {
    info: { tools: { calculator: usage(9, 9) } },
    error: { code: "ENVIRONMENT_FAILED", message: "gone" },
  });
  const metrics = episodeMetrics([{ ...group, trajectories: [...played, failed] }], noEpisodeCounts(), {
    policy: "policy",
  });
  expect(Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith("tools/")))).toEqual({
    "tools/calculator/calls": { sum: 4, count: 5 },
    "tools/calculator/errors": { sum: 1, count: 5 },
    "tools/calculator/truncated": { sum: 0, count: 5 },
    "tools/calculator/seconds": { sum: 1, count: 5 },
    "tools/search/calls": { sum: 1, count: 5 },
    "tools/search/errors": { sum: 0, count: 5 },
    "tools/search/truncated": { sum: 0, count: 5 },
    "tools/search/seconds": { sum: 0.5, count: 5 },
  });
});

test("D5: malformed calls are counted where tools are offered, also where no call was made", () => {
  const [group] = groups as [(typeof groups)[number]];
  const tools = [{ name: "calculator", description: "Calculates.", parameters: {} }];
  const malformed = { type: "malformed-call", text: "{", format: "hermes", error: "It is cut.", offset: 1 } as const;
  const metricsOf = (turns: readonly object[]) =>
    episodeMetrics(
      [
        {
          ...group,
          trajectories: [episode(score(1), [1], { turns: turns as Trajectory["turns"] }), episode(score(1), [1])],
        },
      ],
      noEpisodeCounts(),
      { policy: "policy" },
    );
  const turn = (...parts: readonly object[]) => ({
    ...group.trajectories[0]?.turns[0],
    tools,
    response: { role: "assistant", parts },
  });
  expect(metricsOf([turn(malformed, malformed), turn(malformed)])).toMatchObject({
    "tools/malformed": { sum: 3, count: 2 },
  });
  expect(metricsOf([turn()])).toMatchObject({ "tools/malformed": { sum: 0, count: 2 } });
  expect(metricsOf([])).not.toHaveProperty("tools/malformed");
});

test("answers/undecided is the share of the policy's graded answers that no scorer could decide", () => {
  const grade = (verdict: string, agent = "agent") => ({
    ...{ scorer: "math@2", step: 0, agent, verdict, reason: "r", reward: score(0) },
  });
  const graded = (...verdicts: ReturnType<typeof grade>[]) =>
    episode(score(0), [0, 1], { info: { judgements: verdicts as unknown as JsonValue[] } });
  const trajectories = [
    graded(grade("undecided"), grade("different")),
    graded(grade("unreadable"), grade("equivalent"), grade("undecided", "another")),
  ];
  const counts = noEpisodeCounts();
  const of = (played: readonly Trajectory[]) =>
    episodeMetrics([{ ...groups[0]!, trajectories: played }], counts, { policy: "policy" });
  expect(of(trajectories)["answers/undecided"]).toEqual({ sum: 1, count: 4 });
  expect(of([episode(score(0), [0, 1])])).not.toHaveProperty("answers/undecided");
});
