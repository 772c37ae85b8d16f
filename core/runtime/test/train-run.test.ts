import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { observe, singleStep, textMessage } from "@mrlm/kit";
import { MrlmError, unscored } from "@mrlm/spec";
import type { Engine, EnvironmentHost } from "@mrlm/spec/host";
import { EpisodeReader, openLocalStore } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { parse } from "yaml";
import { MetricsFile, openRun, parseConfig, type RunEvent, type RunSummary, trainRun } from "@mrlm/runtime";
import { CONFIG, letters, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

async function train(
  config: Readonly<Record<string, unknown>> = CONFIG,
  extra: Partial<Parameters<typeof trainRun>[0]> = {},
): Promise<{ summary: RunSummary; engine: BigramEngine; events: RunEvent[] }> {
  const engine = new BigramEngine();
  const events: RunEvent[] = [];
  const { prepared, host } = await prepare(config);
  const onEvent = (event: RunEvent): void => void events.push(event);
  const summary = await trainRun({ prepared, host, engine, openStore: openLocalStore, onEvent, ...extra });
  return { summary, engine, events };
}

const weights = (summary: RunSummary): Buffer => readFileSync(join(summary.directory, "model", "weights.bin"));
const iterations = (directory: string): unknown[] =>
  new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ seconds: _, ...row }) => row);
const episodes = (directory: string, purpose: "train" | "eval" = "train"): unknown[] => {
  const store = new EpisodeReader({ path: join(directory, "episodes.sqlite") });
  const all = [...store.read({ purpose })].map(({ trajectory: { seconds: _, ...trajectory }, ...rest }) => ({
    ...rest,
    trajectory,
  }));
  store.close();
  return all;
};

/** The run that was never interrupted; several tests compare with it. */
let whole: Awaited<ReturnType<typeof train>>;
beforeAll(async () => {
  whole = await train();
});

describe("a run", () => {
  test("runs its stages, evaluates before, between, during and after them, and leaves a complete directory", () => {
    const { summary, events } = whole;
    expect(summary).toMatchObject({ status: "finished", steps: 7 });
    expect(summary.evaluations.map(({ step, label }) => `${label} ${step}`)).toEqual([
      "start 0",
      "first 2",
      "first 3",
      "second 5",
      "second 7",
    ]);
    expect(summary.evaluations[0]?.results[0]).toMatchObject({
      environment: "letters@1",
      tasks: 4,
      greedy: { episodes: 4, scored: 4, failed: 0 },
      sampled: { episodes: 4 },
    });
    expect(events.filter(({ kind }) => kind === "iteration")).toHaveLength(7);
    for (const name of [
      "config.yaml",
      "config.source.yaml",
      "run.json",
      "metrics.jsonl",
      "episodes.sqlite",
      "tokenizer/tokenizer.json",
      "model/config.json",
      "checkpoints/00000007-2/manifest.json",
      "checkpoints/00000007-2/model/config.json",
    ]) {
      expect([name, existsSync(join(summary.directory, name))]).toEqual([name, true]);
    }
    const record = JSON.parse(readFileSync(join(summary.directory, "run.json"), "utf8"));
    expect(record).toMatchObject({
      status: "finished",
      seed: 7,
      steps: 7,
      versions: { mrlm: "0.1.0", node: process.version, engine: { torch: "none", deterministic: true } },
    });
    expect(episodes(summary.directory)).toHaveLength(7 * 8);
    const path = join(summary.directory, "config.yaml");
    const { policies, stages, ...reparsed } = parseConfig(readFileSync(path, "utf8"), { path }).config;
    const short = stages.map(({ learners, ...stage }) => ({ ...stage, ...learners["policy"] }));
    expect({ ...reparsed, model: policies["policy"], stages: short }).toEqual(parse(readFileSync(path, "utf8")));
  });

  test("learns: the reward of the last evaluation is above that of the first", async () => {
    const { summary } = await train({
      ...CONFIG,
      stages: [{ algorithm: "reinforce", steps: 20, tasks: 4, group_size: 8 }],
      eval: { tasks: 4, samples: 4 },
    });
    const rewards = summary.evaluations.map(({ results }) => results[0]?.sampled?.reward ?? 0);
    expect(rewards.at(-1)).toBeGreaterThan((rewards[0] ?? 0) + 1);
  });

  test("numerics 56: the same seed is the same run, bit for bit; another seed is another", async () => {
    const [again, other] = [await train(), await train({ ...CONFIG, seed: 8 })];
    expect(weights(again.summary)).toEqual(weights(whole.summary));
    expect(iterations(again.summary.directory)).toEqual(iterations(whole.summary.directory));
    for (const purpose of ["train", "eval"] as const)
      expect(episodes(again.summary.directory, purpose)).toEqual(episodes(whole.summary.directory, purpose));
    expect(weights(other.summary)).not.toEqual(weights(whole.summary));
  });

  test("two stages of one algorithm do not see the same data", async () => {
    const { summary } = await train({ ...CONFIG, stages: [CONFIG.stages[0], CONFIG.stages[0]] });
    const tasks = (stage: number) =>
      new Set(
        (episodes(summary.directory) as { step: number; trajectory: { seed: number } }[])
          .filter(({ step }) => step > stage * 3 && step <= stage * 3 + 3)
          .map(({ trajectory }) => trajectory.seed),
      );
    expect([...tasks(0)].filter((seed) => tasks(1).has(seed))).toEqual([]);
  });

  test("a reference is a frozen copy of the policy at the beginning of its stage and is released at its end", async () => {
    expect((await whole.engine.describe()).models.map(({ model }) => model)).toEqual(["policy"]);
  });
});

/** Returns an engine that is killed at so many optimizer steps. */
function stoppingAt(engine: Engine, failAt: number): Engine {
  let steps = 0;
  return new Proxy(engine, {
    get: (target, property) =>
      property !== "optimStep"
        ? Reflect.get(target, property).bind(target)
        : (options: Parameters<Engine["optimStep"]>[0]) =>
            ++steps === failAt
              ? Promise.reject(new MrlmError("ENGINE_EXITED", "the engine was killed"))
              : target.optimStep(options),
  });
}

describe("numerics 52: an interrupted run continues bit for bit", () => {
  test.each([1, 2, 4, 6])("killed at optimizer step %i", async (failAt) => {
    const { prepared, host } = await prepare(CONFIG);
    const failure: MrlmError = await trainRun({ prepared, host, engine: stoppingAt(new BigramEngine(), failAt) }).catch(
      (error) => error,
    );
    expect(failure).toMatchObject({ code: "ENGINE_EXITED", hint: expect.stringMatching(/mrlm train --resume \S+/) });
    const directory = /--resume (\S+)/.exec(failure.hint)?.[1] as string;
    const { run, checkpoint } = await openRun(directory, () => undefined);
    expect(checkpoint === undefined).toBe(failAt <= 2);
    const resumed = await train(CONFIG, { run, ...(checkpoint ? { checkpoint } : {}) });
    expect(weights(resumed.summary)).toEqual(weights(whole.summary));
    expect(iterations(directory)).toEqual(iterations(whole.summary.directory));
    for (const purpose of ["train", "eval"] as const)
      expect(episodes(directory, purpose)).toEqual(episodes(whole.summary.directory, purpose));
    expect(resumed.summary.evaluations).toEqual(whole.summary.evaluations);
  });

  test("the weights are published before each take that they have changed for, interrupted or not", async () => {
    const config = {
      ...CONFIG,
      stages: [{ algorithm: "reinforce", steps: 5 }],
      checkpoint: { every: 2, keep: 9 },
      eval: { tasks: 1, every: 3 },
    };
    const expected = await train(config);
    const versions = (
      episodes(expected.summary.directory) as {
        step: number;
        trajectory: { agents: { agent: { segments: { versions: Int32Array }[] } } };
      }[]
    ).map(({ step, trajectory }) => `${step}: ${trajectory.agents.agent.segments[0]?.versions.at(-1)}`);
    expect([...new Set(versions)]).toEqual(["1: 1", "2: 2", "3: 3", "4: 4", "5: 5"]);
    for (const failAt of [4, 5]) {
      const { prepared, host } = await prepare(config);
      const failure: MrlmError = await trainRun({
        prepared,
        host,
        engine: stoppingAt(new BigramEngine(), failAt),
      }).catch((error) => error);
      const { run, checkpoint } = await openRun(/--resume (\S+)/.exec(failure.hint)?.[1] as string, () => undefined);
      const resumed = await train(config, { run, ...(checkpoint ? { checkpoint } : {}) });
      expect(weights(resumed.summary)).toEqual(weights(expected.summary));
      expect(episodes(run.path)).toEqual(episodes(expected.summary.directory));
    }
  });

  test("asked to stop, it finishes the iteration, writes a checkpoint and can be resumed", async () => {
    const drain = new AbortController();
    const quiet = { ...CONFIG, checkpoint: { every: 0 } };
    const { summary: stopped } = await train(quiet, {
      drain: drain.signal,
      onEvent: (event) => event.kind === "iteration" && event.step === 5 && drain.abort(),
    });
    expect(stopped).toMatchObject({ status: "stopped", steps: 5, model: undefined });
    const { run, checkpoint } = await openRun(stopped.directory, () => undefined);
    const { summary } = await train(quiet, { run, ...(checkpoint ? { checkpoint } : {}) });
    expect(weights(summary)).toEqual(weights(whole.summary));
    expect(iterations(summary.directory)).toEqual(iterations(whole.summary.directory));
  });

  test.each([3, 4])(
    "numerics 22: stopped after step %i of a stage that does not publish, tokens name the weight versions that they would have",
    async (step) => {
      const config = {
        ...CONFIG,
        stages: [{ algorithm: "imitate", steps: 6 }, CONFIG.stages[0]],
        checkpoint: { every: 4, keep: 9 },
        eval: { tasks: 1 },
      };
      const expected = await train(config);
      const drain = new AbortController();
      const { summary: stopped } = await train(config, {
        drain: drain.signal,
        onEvent: (event) => event.kind === "iteration" && event.step === step && drain.abort(),
      });
      expect(stopped).toMatchObject({ status: "stopped", steps: step });
      const { run, checkpoint } = await openRun(stopped.directory, () => undefined);
      const { summary } = await train(config, { run, ...(checkpoint ? { checkpoint } : {}) });
      expect(weights(summary)).toEqual(weights(expected.summary));
      expect(episodes(summary.directory)).toEqual(episodes(expected.summary.directory));
    },
  );

  test("asked to stop while it measures, it measures when it is resumed", async () => {
    const drain = new AbortController();
    const { summary: stopped } = await train(CONFIG, {
      drain: drain.signal,
      onEvent: (event) => event.kind === "checkpoint" && event.step === 3 && drain.abort(),
    });
    expect(stopped.evaluations.map(({ step }) => step)).toEqual([0, 2]);
    const { run, checkpoint } = await openRun(stopped.directory, () => undefined);
    const { summary } = await train(CONFIG, { run, ...(checkpoint ? { checkpoint } : {}) });
    expect(summary.evaluations).toEqual(whole.summary.evaluations);
    expect(iterations(summary.directory)).toEqual(iterations(whole.summary.directory));
  });

  test.each([3, 27, 46, 70])(
    "asked to stop when session %i is opened, it continues after resumption without a difference",
    async (count) => {
      const drain = new AbortController();
      const { prepared, host } = await prepare(CONFIG);
      let opened = 0;
      const counting: EnvironmentHost = {
        list: () => host.list(),
        describe: (ref) => host.describe(ref),
        demonstrate: (ref, tasks) => host.demonstrate(ref, tasks),
        close: () => host.close(),
        open: (ref) => (++opened === count && drain.abort(), host.open(ref)),
      };
      const stopped = await trainRun({ prepared, host: counting, engine: new BigramEngine(), drain: drain.signal });
      expect(stopped.status).toBe("stopped");
      const { run, checkpoint } = await openRun(stopped.directory, () => undefined);
      const { summary } = await train(CONFIG, { run, ...(checkpoint ? { checkpoint } : {}) });
      expect(weights(summary)).toEqual(weights(whole.summary));
      expect(iterations(summary.directory)).toEqual(iterations(whole.summary.directory));
      expect(episodes(summary.directory)).toEqual(episodes(whole.summary.directory));
      expect(summary.evaluations).toEqual(whole.summary.evaluations);
    },
  );

  test("stopped at once, it rejects with CANCELLED", async () => {
    const stop = new AbortController();
    await expect(
      train(CONFIG, {
        stop: stop.signal,
        onEvent: (event) => event.kind === "iteration" && event.step === 2 && stop.abort(),
      }),
    ).rejects.toMatchObject({ code: "CANCELLED" });
  });

  test("another configuration does not continue it", async () => {
    const { run, checkpoint } = await openRun(whole.summary.directory, () => undefined);
    await expect(train({ ...CONFIG, seed: 9 }, { run, ...(checkpoint ? { checkpoint } : {}) })).rejects.toMatchObject({
      code: "CHECKPOINT_MISMATCH",
    });
  });
});

const failing = (id: string, create: () => object): typeof letters => ({ ...letters, id, create }) as typeof letters;

test.each([
  [
    "failed",
    failing("broken@1", () => ({ reset: () => Promise.reject(new Error("no such service")) })),
    "ENVIRONMENT_FAILED",
    /4 of 4 failed, 0 had no score.*no such service/,
  ],
  [
    "has no score",
    failing("mute@1", () => ({
      reset: async () => observe([textMessage("user", "a")]),
      step: async () => singleStep({ reward: unscored("SCORER_FAILED", "judge is down"), terminated: true }),
    })),
    "SCORER_FAILED",
    /0 of 4 failed, 4 had no score.*judge is down/,
  ],
] as const)(
  "a run in whose first evaluation every episode %s ends before training, unless eval.may_fail is set",
  async (_, environment, code, message) => {
    const config = {
      ...CONFIG,
      environments: [{ id: environment.id }],
      stages: [{ algorithm: "reinforce", steps: 1 }],
      eval: { tasks: 2 },
    };
    const events: RunEvent[] = [];
    const play = async (evaluation: object): Promise<RunSummary> => {
      const { prepared, host } = await prepare({ ...config, eval: { ...config.eval, ...evaluation } }, environment);
      return trainRun({ prepared, host, engine: new BigramEngine(), onEvent: (event) => events.push(event) });
    };
    await expect(play({})).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
      hint: expect.stringContaining("may_fail"),
    });
    expect(events.filter(({ kind }) => kind === "iteration")).toEqual([]);
    expect(await play({ may_fail: true })).toMatchObject({ steps: 1 });
    expect(events.map((event) => (event.kind === "notice" ? event.text : ""))).toContainEqual(
      expect.stringMatching(
        /^(\d+) of \1 episodes (failed|have no score) and are left out\. .*(no such service|judge is down)/,
      ),
    );
  },
);

test.each<[string, object, RegExp, RegExp]>([
  [
    "TOKENIZER_INVALID",
    { tokenizer: { characters: { alphabet: "abc" } } },
    /no token for "\d"/,
    /tokenizer that has all of its characters/,
  ],
  ["SEQUENCE_TOO_LONG", { config: { max_position_embeddings: 3 } }, /leaves no room/, /model with more positions/],
])(
  "U15: %s blames the model and suggests no --resume, in the evaluation before training and after failed iterations",
  async (code, random, message, hint) => {
    const model = { random: { ...CONFIG.model.random, ...random } };
    for (const evaluation of [{ tasks: 2 }, { tasks: 0 }]) {
      const { prepared, host } = await prepare({
        ...CONFIG,
        model,
        stages: [{ algorithm: "reinforce", steps: 5 }],
        eval: evaluation,
      });
      const failed: { hint?: string } = await trainRun({ prepared, host, engine: new BigramEngine() }).then(
        () => ({}),
        (error: object) => error,
      );
      expect(failed).toMatchObject({
        code,
        message: expect.stringMatching(message),
        hint: expect.stringMatching(hint),
      });
      expect(failed.hint).not.toMatch(/--resume|Correct the environment/);
    }
  },
);

test("U15: data that are refused before anything is done suggest no --resume either; after a stage they do", async () => {
  const data = join(temporaryDirectory(), "rows.jsonl");
  writeFileSync(data, "not JSON");
  const refused = { algorithm: "imitate", steps: 1, data };
  const hintOf = async (stages: readonly object[]): Promise<string> => {
    const { prepared, host } = await prepare({ ...CONFIG, stages, eval: { tasks: 0 } });
    const failed = await trainRun({ prepared, host, engine: new BigramEngine() }).then(
      () => undefined,
      (error: MrlmError) => error,
    );
    expect(failed).toMatchObject({ code: "DATA_INVALID" });
    return failed?.hint ?? "";
  };
  expect(await hintOf([refused])).not.toMatch(/--resume/);
  expect(await hintOf([{ algorithm: "imitate", steps: 1 }, refused])).toMatch(/--resume/);
});

test("a run whose every episode fails ends with the cause", async () => {
  const broken = failing("broken@1", () => ({ reset: () => Promise.reject(new Error("no such service")) }));
  const { prepared, host } = await prepare(
    { ...CONFIG, environments: [{ id: "broken" }], stages: [{ algorithm: "reinforce", steps: 9 }], eval: { tasks: 0 } },
    broken,
  );
  await expect(trainRun({ prepared, host, engine: new BigramEngine() })).rejects.toMatchObject({
    code: "ENVIRONMENT_FAILED",
    message: expect.stringMatching(/last 3 iterations failed.*no such service/),
  });
});
