import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { episodeMetrics, noEpisodeCounts, toRecordedRows } from "@mrlm/kit/learning";
import { type Reward, score, type Trajectory, unscored } from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { diagnose } from "../src/diagnosis/diagnose.ts";
import { examineFile } from "../src/diagnosis/examine-file.ts";
import { judgeMatches, judgePlayed } from "../src/diagnosis/rules/played.ts";
import type { RunRecord } from "../src/diagnosis/run-record.ts";
import { assertScored } from "../src/evaluation/assert-scored.ts";
import { type EvaluationResult, RoleTallies } from "../src/evaluation/evaluate.ts";
import { EpisodeTally } from "../src/evaluation/summarise.ts";
import { goalAccuracy } from "../src/prepare/stage-goal.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

const POLICY: PlayedBy = { kind: "policy", name: "policy", policy: "policy" };
const RANDOM: PlayedBy = { kind: "scripted", name: "random" };

/** Returns an episode with one agent of each role. */
function game(
  task: number,
  rewards: Readonly<Record<string, Reward>>,
  players: Readonly<Record<string, PlayedBy>> = {},
): Trajectory {
  return {
    id: `g/${task}/0`,
    environment: "duel@1",
    task: `eval/${task}`,
    seed: 0,
    group: `g/${task}`,
    member: 0,
    turns: [],
    agents: Object.fromEntries(
      Object.entries(rewards).map(([agent, total]) => [
        agent,
        {
          role: agent.split("#")[0] as string,
          player: players[agent] ?? POLICY,
          segments: [],
          total,
          end: { terminated: true, truncated: false },
        },
      ]),
    ),
    seconds: { sampling: 0, environment: 0 },
  };
}

const won = (task: number, players = {}) => game(task, { pro: score(1), con: score(-1) }, players);
const lost = (task: number, players = {}) => game(task, { pro: score(-1), con: score(1) }, players);
const tied = (task: number, players = {}) => game(task, { pro: score(0), con: score(0) }, players);
const summaryOf = (episodes: readonly Trajectory[], role?: string) => {
  const tally = new EpisodeTally(role);
  for (const episode of episodes) tally.add(episode);
  return tally.summary();
};

describe("results by role and opponent", () => {
  test("the win rate has Wilson's interval over tasks, and ties are no wins", () => {
    const episodes = [...Array.from({ length: 8 }, (_, i) => won(i)), tied(8), lost(9)];
    const { reward, matches } = summaryOf(episodes, "pro");
    expect(reward).toBeCloseTo(0.7, 12);
    expect(matches).toHaveLength(1);
    expect(matches?.[0]).toMatchObject({
      role: "pro",
      opponent: { role: "con", kind: "policy", name: "policy" },
      episodes: 10,
      games: { won: 8, tied: 1, lost: 1, winRate: 0.8 },
    });
    // Wilson, 8 of 10: (0.8 + 0.19207 ± 1.959964 · 0.15945) / 1.38415 = 0.4902 and 0.9433.
    expect(matches?.[0]?.games?.interval?.map((end) => end.toFixed(4))).toEqual(["0.4902", "0.9433"]);
    expect(summaryOf(episodes).reward).toBe(0);
  });

  test("opponents are apart by kind and name, their versions together; shuffled sides have their shares", () => {
    const past = (version: number): PlayedBy => ({ kind: "past", name: "policy", policy: "policy", version });
    const episodes = [
      won(0, { con: past(1) }),
      lost(1, { con: past(2) }),
      won(2, { con: past(3) }),
      lost(3, { pro: RANDOM }),
    ];
    const { matches, sides } = summaryOf(episodes);
    expect(sides).toEqual({ pro: 0.75, con: 0.25 });
    expect(matches?.map(({ role, opponent, games }) => [role, opponent, games?.won, games?.lost])).toEqual([
      ["pro", { role: "con", kind: "past", name: "policy" }, 2, 1],
      ["con", { role: "pro", kind: "scripted", name: "random" }, 1, 0],
    ]);
    expect(summaryOf(episodes.slice(0, 2))).not.toHaveProperty("sides");
  });

  test("another policy of the run is an opponent, and not itself", () => {
    const patient: PlayedBy = { kind: "policy", name: "patient", policy: "patient" };
    const episodes = Array.from({ length: 40 }, (_, task) => won(task, { con: patient }));
    const summary = summaryOf(episodes);
    expect(summary.matches?.map(({ role, policy, opponent }) => [role, policy, opponent.name])).toEqual([
      ["pro", "policy", "patient"],
      ["con", "patient", "policy"],
    ]);
    expect(judgeMatches("The evaluation", summary.matches?.slice(0, 1))[0]?.what).toContain(
      "against the policy patient as con",
    );
  });

  test("unscored and failed episodes are no games", () => {
    const failed = { ...won(1), error: { code: "ENVIRONMENT_FAILED", message: "gone" } };
    const unjudged = game(2, { pro: unscored("JUDGE_FAILED", "down"), con: unscored("JUDGE_FAILED", "down") });
    expect(summaryOf([won(0), failed, unjudged], "pro").matches?.[0]).toMatchObject({
      episodes: 1,
      games: { won: 1, tied: 0, lost: 0 },
    });
  });

  test("where rewards do not sum to 0 there are no wins, and only other players are opponents", () => {
    const shared = (task: number, players = {}) => game(task, { pro: score(1), con: score(1) }, players);
    expect(summaryOf([shared(0), tied(1)])).not.toHaveProperty("matches");
    const [match] = summaryOf([shared(0, { con: RANDOM }), tied(1, { con: RANDOM })]).matches ?? [];
    expect(match).toMatchObject({ role: "pro", episodes: 2, reward: 0.5 });
    expect(match).not.toHaveProperty("games");
    // One role alone is no game.
    expect(summaryOf([game(0, { agent: score(0) })])).not.toHaveProperty("matches");
  });

  test("agents of one role are one side: their mean is compared", () => {
    const team = game(0, { pro: score(0.5), "con#1": score(0), "con#2": score(-0.5) });
    expect(summaryOf([team], "con").matches?.[0]).toMatchObject({ reward: -0.25, games: { lost: 1 } });
  });

  test("self-play is reported for each role", () => {
    const tallies = new RoleTallies();
    for (const trajectory of [won(0), won(1), lost(2)])
      tallies.add({
        id: trajectory.group,
        task: trajectory.task,
        players: { pro: POLICY, con: POLICY },
        trajectories: [trajectory],
      });
    expect(tallies.roles().map((role) => tallies.summary(role).matches?.[0]?.games?.won)).toEqual([2, 1]);
  });

  test("an iteration has the shares of won and of tied games, and of sides", () => {
    const group = (trajectory: Trajectory, players: Record<string, PlayedBy> = { pro: POLICY, con: POLICY }) => ({
      id: trajectory.group,
      task: trajectory.task,
      players,
      trajectories: [trajectory],
    });
    const metrics = (groups: Parameters<typeof episodeMetrics>[0]) =>
      Object.fromEntries(
        Object.entries(episodeMetrics(groups, noEpisodeCounts(), { policy: "policy" })).filter(([name]) =>
          /^(wins|ties|sides)\//.test(name),
        ),
      );
    expect(metrics([group(won(0)), group(tied(1)), group(lost(2)), group(won(3))])).toEqual({
      "wins/pro/policy": { sum: 2, count: 4 },
      "ties/pro/policy": { sum: 1, count: 4 },
      "wins/con/policy": { sum: 1, count: 4 },
      "ties/con/policy": { sum: 1, count: 4 },
    });
    const [first, second] = [{ con: RANDOM }, { pro: RANDOM }];
    expect(
      metrics([
        group(won(0, first), { pro: POLICY, con: RANDOM }),
        group(won(1, first), { pro: POLICY, con: RANDOM }),
        group(won(2, second), { pro: RANDOM, con: POLICY }),
      ]),
    ).toEqual({
      "sides/pro": { sum: 2, count: 3 },
      "sides/con": { sum: 1, count: 3 },
      "wins/pro/scripted": { sum: 2, count: 2 },
      "ties/pro/scripted": { sum: 0, count: 2 },
      "wins/con/scripted": { sum: 0, count: 1 },
      "ties/con/scripted": { sum: 0, count: 1 },
    });
    expect(metrics([group(won(0)), group(game(1, { pro: score(1), con: score(0) }))])).toEqual({});
  });
});

test("a role with many agents, none of which was called, is neither a fault nor a part of a goal", () => {
  const result = (role: string, episodes: readonly Trajectory[]): EvaluationResult => ({
    environment: `duel@1/${role}`,
    role,
    tasks: episodes.length,
    greedy: summaryOf(episodes, role),
  });
  const episodes = [game(0, { main: score(1) }), game(1, { main: score(0) })];
  const failed = episodes.map((each) => ({ ...each, error: { code: "ENVIRONMENT_FAILED", message: "gone" } }));
  const unjudged = [game(0, { main: score(1), "browser#1": unscored("JUDGE_FAILED", "down") })];
  expect(() => assertScored([result("main", episodes), result("browser", episodes)])).not.toThrow();
  expect(goalAccuracy([result("main", episodes), result("browser", episodes)])).toBe(0.5);
  expect(goalAccuracy([result("browser", episodes)])).toBeUndefined();
  for (const lost of [failed, unjudged]) {
    expect(() => assertScored([result("browser", lost)])).toThrow(/could be scored in duel@1\/browser/);
    expect(goalAccuracy([result("main", episodes), result("browser", lost)])).toBeUndefined();
  }
});

describe("findings by role and opponent", () => {
  const many = (count: number, make: (task: number) => Trajectory) => Array.from({ length: count }, (_, i) => make(i));
  const findings = (episodes: readonly Trajectory[], role?: string) =>
    judgeMatches("The greedy evaluation of duel@1", summaryOf(episodes, role).matches);

  test("an opponent that is always or never beaten is a hint, with the interval", () => {
    const beaten = findings(many(40, (task) => won(task, { con: RANDOM })));
    expect(beaten).toMatchObject([{ rule: "one-sided", severity: "hint" }]);
    expect(beaten[0]?.what).toBe(
      "The greedy evaluation of duel@1: as pro the policy wins 100 % (95 %: 91 % to 100 %) of 40 games against the script random as con.",
    );
    expect(beaten[0]?.advice).toContain("too weak to learn more from");
    expect(findings(many(40, (task) => lost(task, { con: RANDOM })))[0]?.advice).toContain("weaker player");
    expect(
      findings(
        many(40, (task) => won(task)),
        "pro",
      )[0]?.what,
    ).toContain("against itself as con");
  });

  test("few games, games of either side, and ties are none", () => {
    expect(findings(many(20, (task) => won(task, { con: RANDOM })))).toEqual([]);
    expect(findings(many(40, (task) => (task % 2 === 0 ? won(task) : lost(task))))).toEqual([]);
    const mostlyTied = many(60, (task) => (task === 0 ? lost(task, { con: RANDOM }) : tied(task, { con: RANDOM })));
    expect(findings(mostlyTied)).toEqual([]);
  });

  test("a collected file is examined by its games too", async () => {
    const file = join(temporaryDirectory(), "games.jsonl");
    const rows = many(40, (task) => won(task, { con: RANDOM })).flatMap((each) => toRecordedRows(each, () => ""));
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    expect((await examineFile(file)).findings.map(({ rule }) => rule)).toContain("one-sided");
    removeTemporaryDirectories();
  });

  const run = (metrics: (iteration: number) => Record<string, number>): RunRecord => ({
    directory: "/runs/a",
    status: "finished",
    stages: [
      {
        name: "grpo",
        algorithm: "grpo@1",
        iterations: Array.from({ length: 40 }, (_, i) => ({ step: i + 1, seconds: {}, metrics: metrics(i) })),
      },
    ],
    evaluations: [],
    failures: [],
    unscored: [],
  });
  const noise = (i: number): number => 0.01 * (i % 3);
  const textOf = (record: RunRecord) => diagnose(record).map(({ rule, what }) => `${rule}: ${what}`);

  test("a stage is examined by role, and a finding of one role names it", () => {
    const found = textOf(
      run((i) => ({ "reward/doctor/mean": 0.2 + 0.01 * i, "reward/patient/mean": 0.6 - 0.012 * i + noise(i) })),
    );
    expect(found).toEqual([
      expect.stringMatching(/^falling-reward: Role patient: The mean reward fell from 0\.6 to 0\.195/),
    ]);
    expect(
      textOf(run((i) => ({ "reward/doctor/mean": 0.2 + 0.01 * i, "reward/patient/mean": 0.3 + noise(i) }))),
    ).toEqual([expect.stringMatching(/^flat-reward: Role patient: /)]);
  });

  test("a stage with several learners is examined by policy, and a finding of one policy names it", () => {
    const learners = { doctor: "grpo@1", patient: "ppo@1" };
    const record = run((i) => ({
      "doctor/reward/mean": 0.2 + 0.01 * i,
      "patient/reward/mean": 0.6 - 0.012 * i + noise(i),
      "doctor/length/cut": 0.5,
      "patient/length/cut": 0.5,
    }));
    const found = textOf({ ...record, stages: record.stages.map((stage) => ({ ...stage, learners })) });
    expect(found).toContainEqual(expect.stringMatching(/^falling-reward: Policy patient: The mean reward fell from/));
    expect(found.filter((text) => text.startsWith("falling-reward"))).toHaveLength(1);
    // Both have the same finding, which is stated once and of none.
    expect(found.filter((text) => text.startsWith("truncation"))).toEqual([
      expect.not.stringContaining("olicy patient"),
    ]);
  });

  test("in a game against itself a role may lose what the other earns", () => {
    const game = (i: number) => ({ "reward/pro/mean": 0.5 - 0.02 * i, "reward/con/mean": 0.02 * i - 0.5 });
    expect(textOf(run((i) => ({ ...game(i), "wins/pro/policy": 0.5, "wins/con/policy": 0.5 })))).toEqual([]);
    expect(textOf(run(game))).toEqual([expect.stringMatching(/^falling-reward: Role pro: /)]);
  });

  test("shares of unscored agents are of all agents, of which an episode has several", () => {
    const unjudged = (task: number) =>
      game(task, { pro: unscored("JUDGE_FAILED", "down"), con: unscored("JUDGE_FAILED", "down") });
    const half = summaryOf(many(40, (task) => (task % 2 === 0 ? won(task) : unjudged(task))));
    const [finding] = judgePlayed({ ...half, source: "The evaluation" });
    expect(finding?.what).toContain("50 % of the episodes have no score");
    const metrics = { "episodes/played": 20, "agents/played": 40, "episodes/unscored": 10 };
    expect(textOf(run(() => metrics))).toEqual([expect.stringContaining("25 % of the episodes could not be scored")]);
    const groups = many(2, won).map((trajectory) => ({
      id: trajectory.group,
      task: trajectory.task,
      players: { pro: POLICY, con: POLICY },
      trajectories: [trajectory],
    }));
    expect(episodeMetrics(groups, noEpisodeCounts(), { policy: "policy" })).toMatchObject({
      "episodes/played": 2,
      "agents/played": 4,
    });
  });

  test("a finding that concerns no role is stated once", () => {
    const found = textOf(
      run((i) => ({ "reward/pro/mean": 0.2 + 0.01 * i, "reward/con/mean": 0.2 + 0.01 * i, "length/cut": 0.5 })),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).not.toContain("Role");
  });
});
