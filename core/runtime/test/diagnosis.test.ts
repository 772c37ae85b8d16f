import { afterAll, describe, expect, test } from "@jest/globals";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diagnose, STAGE_RULES } from "../src/diagnosis/diagnose.ts";
import { readRun, type RunRecord } from "../src/diagnosis/run-record.ts";
import type { EpisodeSummary } from "../src/evaluation/summarise.ts";
import { lockRun } from "../src/run/run-lock.ts";
import { run, supervised, twoPolicies } from "./support/run-records.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const found = (record: RunRecord): string[] => diagnose(record).map(({ rule }) => rule);
const point = (step: number, accuracy: number) => ({
  step,
  environment: "e@1",
  accuracy,
  interval: [accuracy - 0.05, accuracy + 0.05] as [number, number],
});

const SICK: readonly (readonly [string, RunRecord])[] = [
  ["groups-without-signal", run(() => ({ "groups/without_signal": 0.8 }))],
  ["flat-reward", run((i) => ({ "reward/mean": 0.4 + 0.01 * (i % 3) }))],
  ["falling-reward", run((i) => ({ "reward/mean": 0.8 - 0.01 * i }))],
  ["rising-loss", supervised("sft", (i) => ({ "loss/nll": i === 0 ? 0.5 : 2 }))],
  ["pairs-not-learnt", supervised("dpo", () => ({ "preference/accuracy": 0.5 }))],
  ["likelihood-displacement", supervised("dpo", (i) => ({ "logprob/chosen": -0.5 - 0.03 * i }))],
  ["cut-targets", supervised("sft", () => ({ "length/cut_targets": 0.3 }))],
  ["clip-fraction", run(() => ({ "clip/fraction": 0.5 }))],
  ["entropy-collapse", run((i) => ({ "entropy/sampled": i < 20 ? 1 : 0.01 }))],
  ["kl-blow-up", run(() => ({ "kl/reference": 2 }))],
  ["sampler-mismatch", run(() => ({ "offpolicy/kl": 0.05 }))],
  ["few-effective-tokens", run(() => ({ "offpolicy/ess": 0.2 }))],
  ["truncation", run(() => ({ "length/cut": 0.5 }))],
  ["episodes-limited", run(() => ({ "episodes/truncated": 0.9 }))],
  ["malformed-calls", run(() => ({ "tools/malformed": 1, "tools/calculator/calls": 3, "tools/search/calls": 2 }))], // D5
  ["rewritten-histories", run(() => ({ "agent/calls": 5, "agent/rewritten": 2, "agent/segments": 3 }))],
  ["programs-end-early", run(() => ({ "agent/calls": 5, "agent/rewritten": 0, "agent/failed": 0.4 }))],
  [
    "episodes-failed",
    run(() => ({ "episodes/failed": 30 }), {
      failures: [{ code: "ENVIRONMENT_FAILED", message: "gone", episodes: 1200 }],
    }),
  ],
  ["episodes-unscored", run(() => ({ "episodes/unscored": 2 }))],
  ["rewards-out-of-range", run(() => ({ "episodes/out_of_range": 3 }))],
  ["watch-gap", run((i) => ({ "watch/reward": 0.4, "watch/gap": 0.01 * i }))],
  ["copied-answers", run((i) => ({ "answers/copied": 0.02 * i }))],
  ["equal-answers", run((i) => ({ "answers/constant": Math.min(1, 0.03 * i) }))],
  ["answers-drift", run((i) => ({ "reward/mean": 0.995, "length/mean": 20 + 2 * i }))],
  ["unscored-by-policy", twoPolicies({ "a/episodes/unscored": 6, "b/episodes/unscored": 1 })],
  ["watch-bound", run(undefined, {}, "grpo@1", { watch: 0.5, total: 2.8 })],
  ["version-lag", run(() => ({ "versions/lag": 9 }))],
  ["gradient-spikes", run((i) => ({ "optim/grad_norm": i === 30 ? 50 : 0.5 }))],
  ["skipped-steps", run((i) => ({ "optim/skipped": i % 10 === 0 ? 1 : 0 }))],
  ["no-gradient", run((i) => ({ "optim/grad_norm": i < 20 ? 0.5 : 0 }))],
  ["explained-variance", run(() => ({ "value/explained_variance": -0.5 }))],
  ["environment-bound", run(undefined, {}, "grpo@1", { environment: 5, total: 8 })],
  ["players-bound", run(undefined, {}, "grpo@1", { players: 2, total: 4 })],
  ["wire-bound", run(undefined, {}, "grpo@1", { total: 4 })],
  ["play-bound", run(() => ({ "wait/training": 0.8, "wait/rollouts": 0 }))],
  ["learning-bound", run(() => ({ "wait/training": 0.1, "wait/rollouts": 1 }))],
  ["groups-refused", run(() => ({ "buffer/learnt": 8, "buffer/refused": 4 }))],
  ["selection", run((i) => ({ "selection/durations": 0.4 + 0.1 * (i % 3), "selection/lengths": 1 }))],
  ["component-divergence", run((i) => ({ "reward/correct": 0.6 - 0.01 * i }))],
  ["evaluation-drop", run(undefined, { evaluations: [point(0, 0.2), point(20, 0.9), point(40, 0.6)] })],
];

describe("a diagnosis", () => {
  test("of waits reports neither short ones, nor those that a slow environment causes, nor lags that are corrected, nor few refused groups, nor a small selection", () => {
    expect(found(run(() => ({ "wait/training": 0.5, "wait/rollouts": 0.5 })))).toEqual([]);
    const slow = { environment: 5, total: 8 };
    expect(found(run(() => ({ "wait/training": 5 }), {}, "grpo@1", slow))).toEqual(["environment-bound"]);
    expect(found(run(() => ({ "buffer/learnt": 8, "buffer/refused": 2 })))).toEqual([]);
    expect(found(run(() => ({ "selection/durations": 0.9, "selection/lengths": 1.1 })))).toEqual([]);
    expect(found(run(() => ({ "versions/lag": 9, "mismatch/corrected": 0.9 })))).toEqual([]);
  });

  test("of a run that learns finds nothing", () => {
    expect(found(run())).toEqual([]);
    expect(found(run(undefined, { evaluations: [point(0, 0.2), point(20, 0.9), point(40, 0.88)] }))).toEqual([]);
  });

  test.each(SICK)("%s, and nothing else", (rule, record) => {
    const findings = diagnose(record);
    expect(findings.map((finding) => finding.rule)).toEqual([rule]);
    expect(findings[0]?.what).not.toMatch(/NaN|undefined|Infinity/);
    expect(findings[0]?.advice.length).toBeGreaterThan(20);
  });

  test("of programs that end early states which limit", () => {
    const [finding] = diagnose(run(() => ({ "agent/calls": 5, "agent/limited": 0.5, "agent/call_limited": 0.4 })));
    expect(finding?.what).toContain("50 % met a limit (40 % that of calls");
    expect(finding?.advice).toContain("`limits.calls`");
  });

  test("of failed episodes states the most frequent cause, and the count of every other code", () => {
    const failures = [
      { code: "ENDPOINT_TIMEOUT", message: "late", episodes: 40 },
      { code: "ENDPOINT_TIMEOUT", message: "later", episodes: 2 },
      { code: "ENDPOINT_RATE_LIMITED", message: "429", episodes: 3 },
      { code: "PLAYER_FAILED", message: "threw", episodes: 1 },
    ];
    const [finding] = diagnose(run(() => ({ "episodes/failed": 30 }), { failures }));
    expect(finding?.what).toMatch(
      /Most often: ENDPOINT_TIMEOUT: late \(40 episodes\)\. Also: ENDPOINT_RATE_LIMITED \(3\), PLAYER_FAILED \(1\)\.$/,
    );
    expect(finding?.advice).toContain("Raise `timeout_ms`");
  });

  test("every rule has a run that shows it, and a section in the guide", () => {
    expect(SICK).toHaveLength(STAGE_RULES.length + 1);
    const guide = readFileSync(new URL("../../../docs/train/diagnosis.md", import.meta.url), "utf8");
    for (const [rule] of SICK) expect([rule, guide.includes(`### ${rule}\n`)]).toEqual([rule, true]);
  });

  test("D18: rewards of another size explain gradients and rewards that fall: no lower learning rate is advised", () => {
    const worse = run((i) => ({
      "episodes/out_of_range": 256,
      "optim/skipped": 1,
      "optim/grad_norm": i === 30 ? 50 : 0.5,
      "reward/mean": 0.8 - 0.01 * i,
    }));
    expect(found(worse)).toEqual(["rewards-out-of-range"]);
    expect(diagnose(worse)[0]?.advice).not.toContain("Lower learning_rate");
  });

  test("reports why episodes failed, with problems before hints", () => {
    const unscored = diagnose(
      run(() => ({ "episodes/unscored": 30 }), {
        unscored: [
          { code: "JUDGE_FAILED", message: "503", episodes: 1200 },
          { code: "SANDBOX_DIED", message: "", episodes: 1 },
        ],
      }),
    );
    expect(unscored[0]?.what).toContain("Most often: JUDGE_FAILED: 503 (1200 episodes)");
    const findings = diagnose(
      run(() => ({ "versions/lag": 9, "episodes/failed": 30 }), {
        failures: [{ code: "ENVIRONMENT_FAILED", message: "gone", episodes: 1200 }],
      }),
    );
    expect(findings.map(({ severity }) => severity)).toEqual(["problem", "hint"]);
    expect(findings[0]?.what).toContain("ENVIRONMENT_FAILED: gone (1200 episodes)");
  });

  test("a consequence of another finding is not reported: a policy that collapsed at once needs no higher learning rate", () => {
    const collapsed = run((i) => ({
      "reward/mean": i === 0 ? 0.53 : 0.1,
      "reward/std": 0.3,
      "episodes/played": 128,
      "groups/without_signal": i === 0 ? 0 : 0.9,
      "optim/grad_norm": i === 0 ? 0.4 : 0,
      "reward/correct": 0.1,
    }));
    const findings = diagnose(collapsed);
    expect(findings.map(({ rule }) => rule)).toEqual(["falling-reward"]);
    expect(findings[0]).toMatchObject({
      what: "The mean reward fell from 0.53 to 0.1, most of it by iteration 2.",
      advice: expect.stringContaining("ten- to a hundredfold"),
    });
    const equal = run(() => ({
      "reward/mean": 0.5,
      "reward/std": 0,
      "groups/without_signal": 1,
      "optim/grad_norm": 0,
      "reward/correct": 0.5,
    }));
    expect(diagnose(equal).map(({ rule, what }) => [rule, what])).toEqual([
      [
        "groups-without-signal",
        "Every episode of the stage earned exactly 0.5: the answers of the policy make no difference.",
      ],
    ]);
  });

  test("a solved task: equal rewards and zero gradients are no findings from a mean reward of 0.99 on", () => {
    const equal = (reward: number): RunRecord =>
      run(() => ({
        "reward/mean": reward,
        "reward/correct": reward,
        "groups/without_signal": 0.97,
        "optim/grad_norm": 0,
      }));
    expect(found(equal(0.99))).toEqual([]);
    expect(found(equal(1))).toEqual([]);
    expect(found(equal(0.98))).toEqual(["groups-without-signal"]);
  });

  test("a lucky first iteration, imitation that becomes certain, a small model's fixed costs and a critic that predicts 0 are no findings", () => {
    expect(
      found(
        run((i) => ({
          "reward/mean": i === 0 ? 0.6 : 0.5 + 0.01 * (i % 3) + 0.0005 * i,
          "reward/std": 0.3,
          "episodes/played": 128,
        })),
      ),
    ).toEqual(["flat-reward"]);
    expect(found(supervised("sft"))).toEqual([]);
    expect(found(supervised("dpo"))).toEqual([]);
    expect(found(supervised("sft", (i) => ({ "loss/nll": i < 5 ? 0.5 : 0.52 })))).toEqual([]);
    expect(
      found(run(undefined, {}, "grpo@1", { sampling: 0.1, environment: 0, training: 0.1, total: 0.2, engine: 0.1 })),
    ).toEqual([]);
    expect(found(run((i) => ({ "value/explained_variance": -0.004 + 0.0001 * i })))).toEqual([]);
    // Norms that shrink as a task is solved have no spikes at their beginning.
    expect(found(run((i) => ({ "optim/grad_norm": i < 8 ? 1 : 0.02 })))).toEqual([]);
  });

  test("a divergence of ppo is that of an episode; a run without iterations has no findings; a solved task may be certain", () => {
    expect(found(run(() => ({ "kl/reference": 2 }), {}, "ppo@1"))).toEqual([]);
    expect(found({ ...run(), stages: [{ name: "sft", algorithm: "sft@1", iterations: [] }] })).toEqual([]);
    expect(found(run((i) => ({ "reward/mean": i < 20 ? 0.9 : 0.99, "entropy/sampled": i < 20 ? 1 : 0.01 })))).toEqual(
      [],
    );
  });
});

const summary = (changes: Partial<EpisodeSummary> = {}): EpisodeSummary => ({
  episodes: 8,
  scored: 8,
  unscored: 0,
  failed: 0,
  truncated: 0,
  cut: 0,
  reward: 0,
  accuracy: 0,
  components: {},
  tokens: 4,
  intervals: { accuracy: null, reward: null, components: {} },
  passAtK: [],
  ...changes,
});

test("U1: the last evaluation of each environment is judged: cut answers, failed and unscored episodes", () => {
  const point = (step: number, changes: Partial<EpisodeSummary>, environment = "e@1") => ({
    step,
    environment,
    accuracy: 0,
    interval: null,
    greedy: summary(),
    sampled: summary(changes),
  });
  const cut = run(undefined, { evaluations: [point(0, {}), point(40, { cut: 1 })] });
  expect(diagnose(cut)).toMatchObject([
    {
      rule: "truncation",
      severity: "problem",
      what: expect.stringMatching(/^The sampled evaluation of e@1 after step 40: max_tokens cut 100 % of the answers/),
    },
  ]);
  // The policy of an earlier evaluation is gone.
  expect(found(run(undefined, { evaluations: [point(0, { cut: 1, failed: 8 }), point(40, {})] }))).toEqual([]);
  // The stage's finding of the same rule is enough.
  expect(found(run(() => ({ "length/cut": 0.5 }), { evaluations: [point(40, { cut: 1 })] }))).toEqual(["truncation"]);
  expect(
    found(
      run(undefined, {
        evaluations: [
          point(40, { failed: 8, firstError: "ENVIRONMENT_FAILED: gone" }),
          point(40, { unscored: 8 }, "f@1"),
          point(40, { truncated: 8 }, "g@1"),
          point(40, { malformedCalls: 2 }, "h@1"), // D5
        ],
      }),
    ),
  ).toEqual(["episodes-failed", "episodes-unscored", "malformed-calls", "episodes-limited"]);
  // Answers of one token, by sampling.max_tokens: 1, have no room for a stop token.
  const cutByForm = { evaluations: [point(40, { cut: 1 })] };
  expect(found(run(() => ({ "length/cut": 1, "length/mean": 1 }), cutByForm))).toEqual([]);
  // Run files of an earlier version lack this field.
  const { cut: _, ...before } = summary();
  expect(
    found(
      run(undefined, {
        evaluations: [{ step: 40, environment: "e@1", accuracy: 0, interval: null, greedy: before as EpisodeSummary }],
      }),
    ),
  ).toEqual([]);
});

test("U11: a run under way is not judged by answers from before its training; failed episodes still count", () => {
  const start = { step: 0, environment: "e@1", accuracy: 0, interval: null, greedy: summary({ cut: 1, truncated: 8 }) };
  expect(found(run(undefined, { status: "running", evaluations: [start] }))).toEqual([]);
  expect(found({ ...run(undefined, { evaluations: [start] }), stages: [] })).toEqual([
    "truncation",
    "episodes-limited",
  ]);
  expect(found(run(undefined, { evaluations: [{ ...start, greedy: summary({ failed: 8 }) }] }))).toEqual([
    "episodes-failed",
  ]);
});

test("U5: the error that ended a run comes first", () => {
  const failed = run(() => ({ "length/cut": 0.5 }), {
    status: "failed",
    error: { code: "ENGINE_EXITED", message: "The engine process ended.", hint: "Read engine.log." },
  });
  expect(diagnose(failed)).toMatchObject([
    {
      rule: "run-failed",
      severity: "problem",
      what: "The run failed with ENGINE_EXITED: The engine process ended.",
      advice: "Read engine.log.",
    },
    { rule: "truncation" },
  ]);
  const guide = readFileSync(new URL("../../../docs/train/diagnosis.md", import.meta.url), "utf8");
  expect(guide).toContain("### run-failed\n");
  expect(found({ ...failed, error: undefined })).toEqual(["run-failed", "truncation"]);
});

test("a run recorded as running is interrupted once no process holds its lock", () => {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, "config.yaml"), "model: {path: m}\nstages: [{algorithm: grpo, steps: 1}]\n");
  writeFileSync(join(directory, "run.json"), '{"status": "running"}');
  const lock = lockRun(directory);
  expect(readRun(directory).status).toBe("running");
  lock.release();
  expect(readRun(directory).status).toBe("interrupted");
});
