import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { definePlugin, messageText, observe, singleStep, textMessage } from "@mrlm/kit";
import {
  type EnvironmentDefinition,
  type Grade,
  type JsonObject,
  type Judge,
  type JudgedTurn,
  score,
  type Scorer,
  type StepResult,
} from "@mrlm/spec";
import { openWatch, parseConfig, PluginHost } from "@mrlm/runtime";
import { type BigramTraining, lettersEnvironment, trainBigram, trainBigramInterrupted } from "@mrlm/testing";
import type { MetricsRow } from "../src/run/metrics-file.ts";
import type { PlayedEnvironment } from "../src/play/cohort-requests.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { reinforce } from "./support/reinforce.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Scorer that pays for each letter in `options.letters`, by default "a". */
const byLetters = (
  letters: string,
  change: (reward: number) => Promise<number> = async (reward) => reward,
): Scorer => ({
  async score({ answer, options }): Promise<Grade> {
    const paid = String(options?.["letters"] ?? letters);
    const count = [...answer].filter((letter) => paid.includes(letter)).length;
    return { reward: score(await change(count / Math.max(1, answer.length))), verdict: "different", reason: "" };
  },
});

/** Environment whose reward is the grade of a scorer. */
function graded(
  id: `${string}@${number}`,
  overrides: Partial<EnvironmentDefinition<any>> = {},
): EnvironmentDefinition<any> {
  return counterEnvironment({
    id,
    options: undefined,
    requires: ["scorer:first@1"],
    create: (context) => ({
      reset: async ({ task, seed }) => observe([textMessage("user", `${String(task).slice(-1)}${seed}`)]),
      async step({ message }, { signal }) {
        const request = { answer: messageText(message), expected: "a", signal };
        return singleStep({ reward: (await context.scorer("first").score(request)).reward, terminated: true });
      },
    }),
    ...overrides,
  });
}

/** Scorers by id. A call of `late` never ends by itself. */
const scorers = {
  "first@1": () => byLetters("ab"),
  "second@1": () => byLetters("a"),
  "failing@1": () => byLetters("a", () => Promise.reject(new Error("no answer"))),
  "late@1": () => byLetters("a", () => new Promise(() => undefined)),
};

function training(environments: readonly JsonObject[], more: Partial<BigramTraining> = {}): BigramTraining {
  return {
    algorithms: [reinforce],
    environments: [graded("graded@1"), graded("other@1")],
    plugins: [definePlugin({ name: "scorers", scorers })],
    stages: [{ algorithm: "reinforce", steps: 4, tasks: 4, group_size: 4 }],
    ...more,
    config: { output: temporaryDirectory(), environments: [...environments], ...more.config },
  };
}

const REINFORCE = { algorithm: "reinforce", tasks: 4, group_size: 4 };

const rowsOf = (directory: string): MetricsRow[] =>
  readFileSync(join(directory, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as MetricsRow)
    .filter(({ kind }) => kind === "iteration");
const metricsOf = (directory: string): Record<string, number>[] =>
  rowsOf(directory).map(({ metrics }) => metrics as Record<string, number>);

describe("the watch of an environment", () => {
  test("scores every episode again with share 1: reward, gap and agreement", async () => {
    const { summary, played } = await trainBigram(training([{ id: "graded", watch: { scorer: "second", share: 1 } }]));
    const expected = played.map((groups) => {
      const all = groups.flatMap(({ trajectories }) => trajectories);
      const texts = all.map(({ turns }) => messageText((turns[0] as (typeof turns)[0]).response));
      const share = (text: string, paid: string): number =>
        [...text].filter((letter) => paid.includes(letter)).length / Math.max(1, text.length);
      const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
      return {
        reward: mean(texts.map((text) => share(text, "a"))),
        gap: mean(texts.map((text) => share(text, "b"))),
        agreement: mean(texts.map((text) => Number(!text.includes("b")))),
      };
    });
    for (const [i, metrics] of metricsOf(summary.directory).entries()) {
      expect(metrics["watch/reward"]).toBeCloseTo(expected[i]?.reward as number, 12);
      expect(metrics["watch/gap"]).toBeCloseTo(expected[i]?.gap as number, 12);
      expect(metrics["watch/agreement"]).toBeCloseTo(expected[i]?.agreement as number, 12);
      expect(metrics).not.toHaveProperty("watch/missed");
    }
    expect(rowsOf(summary.directory)[0]).toMatchObject({ counts: { "watch/gap": 16 } });
  });

  test("changes no weight, no reward and no episode, whatever it does", async () => {
    const plain = await trainBigram(training([{ id: "graded" }]));
    const watches: JsonObject[] = [
      { scorer: "second" },
      { scorer: "second", share: 1, options: { letters: "cd" } },
      { scorer: "failing", share: 1 },
    ];
    for (const watch of watches) {
      const watched = await trainBigram(training([{ id: "graded", watch }]));
      expect(watched.weights.equals(plain.weights)).toBe(true);
      expect(watched.played).toEqual(
        plain.played.map((groups) =>
          groups.map((group) => ({
            ...group,
            trajectories: group.trajectories.map((each) => ({ ...each, seconds: expect.anything() })),
          })),
        ),
      );
    }
  });

  test("takes options of each request; a share chooses the same episodes in a resumed run", async () => {
    const watch = { scorer: "second", share: 0.5, options: { letters: "b" } };
    const whole = await trainBigram(training([{ id: "graded", watch }]));
    const resumed = await trainBigramInterrupted(training([{ id: "graded", watch }]), 3);
    const expected = metricsOf(whole.summary.directory);
    expect(metricsOf(resumed.summary.directory)).toEqual(expected);
    expect(expected.every((metrics) => metrics["watch/gap"] !== undefined)).toBe(true);
    for (const { counts } of rowsOf(whole.summary.directory))
      expect((counts as JsonObject)["watch/gap"]).toBeLessThan(16);
  });

  test("of one of two entries of an environment scores the episodes of that entry", async () => {
    const environments = [graded("graded@1", { options: undefined })];
    const entries: JsonObject[] = [
      { id: "graded", max_turns: 1 },
      { id: "graded", watch: { scorer: "second", share: 1 } },
    ];
    const { summary, played } = await trainBigram(training(entries, { environments }));
    const second = played[0]?.filter(({ id }) => id.includes("/graded@1#2/")) ?? [];
    expect(rowsOf(summary.directory)[0]).toMatchObject({ counts: { "watch/gap": 4 * second.length } });
    expect(second.length).toBeGreaterThan(0);
    expect(second.length).toBeLessThan(4);
  });

  test.each([["pipelined"], ["async"]])("covers batches of play that is %s", async (mode) => {
    const watch = { scorer: "second", share: 1 };
    const { summary, played } = await trainBigram(
      training([{ id: "graded", watch }], { config: { play: { mode, lag: 1 } } }),
    );
    // Groups that are too old to learn from were played too.
    for (const [i, { counts }] of rowsOf(summary.directory).entries())
      expect(counts).toMatchObject({ "watch/gap": 4 * (played[i]?.length as number) });
  });

  test("by a judge scores the agents of each policy, under its name", async () => {
    const byLength = (sign: number): Judge => ({
      judge: async ({ turns, agents }) => {
        const length = (agent: string): number =>
          turns
            .filter((turn) => turn.agent === agent)
            .reduce((sum, { message }) => sum + messageText(message).length, 0);
        const rewards = Object.fromEntries(agents.map((agent) => [agent, score(sign * length(agent))]));
        return { rewards, verdict: "scored", reason: "" };
      },
    });
    const shown = (agent: string, text: string) => ({ agent, messages: [textMessage("user", text)] });
    const talk: EnvironmentDefinition<any> = counterEnvironment({
      id: "talk@1",
      options: undefined,
      roles: { pro: {}, con: {} },
      requires: ["judge:first@1"],
      create: (context) => {
        let turns: JudgedTurn[] = [];
        return {
          reset: async () => ((turns = []), shown("pro", "0")),
          async step({ agent, message }, { signal }): Promise<StepResult> {
            turns.push({ agent, message });
            if (agent === "pro") return { observation: shown("con", "1"), rewards: {}, terminated: {}, truncated: {} };
            const task = { id: "train/0", public: {}, private: {} };
            const { rewards } = await context.judge("first").judge({ turns, agents: ["pro", "con"], task }, { signal });
            const observation = { agent: "", messages: [] };
            return { observation, rewards, terminated: { pro: true, con: true }, truncated: {} };
          },
        };
      },
    });
    const judges = { "first@1": () => byLength(1), "second@1": () => byLength(-1) };
    const model = { random: { config: {}, tokenizer: { characters: { alphabet: "abcd0123456789" } } } };
    const { summary } = await trainBigram(
      training([{ id: "talk", players: { pro: "a", con: "b" }, watch: { judge: "second", share: 1 } }], {
        environments: [talk],
        plugins: [definePlugin({ name: "judges", judges })],
        stages: [{ learners: Object.fromEntries(["a", "b"].map((name) => [name, { ...REINFORCE, steps: 2 }])) }],
        // The default model of the helper makes room for two.
        config: { model: undefined, policies: { a: model, b: model } } as unknown as JsonObject,
      }),
    );
    for (const metrics of metricsOf(summary.directory))
      for (const policy of ["a", "b"]) {
        const earned = metrics[`${policy}/watch/reward`] as number;
        expect(earned).toBeLessThan(0);
        expect(metrics[`${policy}/watch/gap`]).toBeCloseTo(-2 * earned, 12);
      }
  });

  test("counts episodes that it could not score, with the first cause", async () => {
    const { summary, notices } = await trainBigram(
      training([{ id: "graded", watch: { scorer: "failing", share: 1 } }]),
    );
    const rows = rowsOf(summary.directory);
    for (const { metrics, notices: recorded } of rows) {
      expect(metrics).toMatchObject({ "watch/missed": 16 });
      expect(metrics).not.toHaveProperty("watch/reward");
      expect(recorded).toEqual([
        expect.stringMatching(/^Episodes were not watched: 16 of 16\..*SCORER_FAILED.*no answer/),
      ]);
    }
    expect(notices.filter((text) => text.startsWith("Episodes were not watched"))).toHaveLength(1);
  });

  test("is waited for no longer than its deadline", async () => {
    const one = { stages: [{ algorithm: "reinforce", steps: 2, tasks: 4, group_size: 4 }], watchMs: 150 };
    const { summary } = await trainBigram(training([{ id: "graded", watch: { scorer: "late", share: 1 } }], one));
    for (const { metrics, seconds, notices } of rowsOf(summary.directory)) {
      expect(metrics).toMatchObject({ "watch/missed": 16 });
      expect(notices).toEqual(["Episodes were not watched: 16 of 16. They were not reached in time."]);
      const { watch, total } = seconds as { readonly watch: number; readonly total: number };
      expect(watch).toBeGreaterThan(0.05);
      expect(watch).toBeLessThan(1);
      expect(total).toBeGreaterThan(watch);
    }
  });
});

describe("a watch that cannot work is refused at its place in the configuration", () => {
  const open = async (environments: readonly JsonObject[], definitions: readonly EnvironmentDefinition<any>[]) => {
    const source = await PluginHost.of([
      definePlugin({ name: "test", environments: [...definitions] }),
      definePlugin({ name: "scorers", scorers }),
    ]);
    const stages = [{ algorithm: "reinforce" }];
    const text = JSON.stringify({ model: { path: "m" }, environments, stages });
    const played = environments.map(({ id, weight = 1 }) => ({ ref: { id }, weight }) as unknown as PlayedEnvironment);
    return openWatch(parseConfig(text, { path: "/tmp/run.yaml" }), { environments: played }, source);
  };
  const at = "run.yaml:1:";

  test.each<[string, JsonObject, EnvironmentDefinition<any>, string, string]>([
    ["an unknown scorer", { scorer: "secnd" }, graded("graded@1"), "REQUIREMENT_MISSING", "secnd"],
    [
      "an environment without a scorer",
      { scorer: "second" },
      { ...lettersEnvironment(), id: "graded@1" },
      "CONFIG_INVALID",
      "has no scorer",
    ],
    ["a judge for a scorer", { judge: "second" }, graded("graded@1"), "REQUIREMENT_MISSING", "second"],
    [
      "no determinism",
      { scorer: "second" },
      graded("graded@1", { determinism: "none" }),
      "CONFIG_INVALID",
      "promises no determinism",
    ],
  ])("%s", async (_, watch, definition, code, text) => {
    const error = await open([{ id: "graded", watch }], [definition]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(text) });
    expect(error).toMatchObject({ message: expect.stringContaining(at) });
  });

  test.each([[{}], [{ scorer: "a", judge: "b" }], [{ scorer: "a", share: 0 }], [{ scorer: "a", shar: 1 }]])(
    "keys %j",
    async (watch) => {
      await expect(open([{ id: "graded", watch }], [graded("graded@1")])).rejects.toMatchObject({
        code: "CONFIG_INVALID",
        message: expect.stringContaining(at),
      });
    },
  );

  test("no watch opens nothing", async () => {
    expect(await open([{ id: "graded" }], [graded("graded@1")])).toBeUndefined();
  });
});
