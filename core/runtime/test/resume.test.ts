import { afterAll, describe, expect, test } from "@jest/globals";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MrlmError } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { MetricsFile, openRun, RunDirectory, type RunEvent, trainRun } from "@mrlm/runtime";
import { failure, QUICK, resume, stoppedAfter, train, weights } from "./support/resumes.ts";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const steps = (directory: string): string[] =>
  new MetricsFile(join(directory, "metrics.jsonl")).rows().map(({ kind, step }) => `${kind} ${step}`);
describe("a run that is resumed under another configuration", () => {
  test("is refused, with each field that has changed", async () => {
    const directory = await stoppedAfter(3);
    const changed = {
      ...QUICK,
      seed: 9,
      stages: [
        { ...QUICK.stages[0], algorithm: "reinforce" },
        { ...QUICK.stages[1], learning_rate: 0.25 },
      ],
      sampling: { max_tokens: 9 },
    };
    const { code, message } = await failure(resume(directory, changed));
    expect(code).toBe("CHECKPOINT_MISMATCH");
    for (const field of [
      "seed: 7 -> 9",
      'stages[0].algorithm: "imitate" -> "reinforce"',
      "stages[1].options.learning_rate: nothing -> 0.25",
      "sampling.max_tokens: 8 -> 9",
    ])
      expect(message).toContain(field);
    expect(steps(directory)).toContain("iteration 3");
    expect(message).not.toContain("group_size");
  });

  test("is refused where a name has come to mean another version", async () => {
    const directory = await stoppedAfter(3);
    const { run, checkpoint } = await openRun(directory, () => undefined);
    const { prepared, host } = await prepare(QUICK);
    const environments = prepared.environments.map((environment) => ({
      ...environment,
      ref: { ...environment.ref, id: "letters@2" },
    }));
    const refused = trainRun({
      prepared: { ...prepared, environments },
      host,
      engine: new BigramEngine(),
      run,
      ...(checkpoint === undefined ? {} : { checkpoint }),
    });
    expect(await failure(refused)).toMatchObject({
      code: "CHECKPOINT_MISMATCH",
      message: expect.stringContaining('environments[0]: "letters@1" -> "letters@2"'),
    });
  });

  test("is refused where a data file has changed that the stage under way reads, and only there", async () => {
    const data = join(temporaryDirectory(), "rows.jsonl");
    writeFileSync(data, "{}\n");
    const config = { ...QUICK, stages: [{ ...QUICK.stages[0], data }, QUICK.stages[1]] };
    const [inside, behind] = [await stoppedAfter(1, config), await stoppedAfter(3, config)];
    writeFileSync(data, "{}\n{}\n");
    expect(await failure(resume(inside, config))).toMatchObject({
      code: "CHECKPOINT_MISMATCH",
      message: expect.stringMatching(/rows\.jsonl has changed since the run read it: its SHA-256 was \w{64}/),
    });
    expect((await resume(behind, config)).summary.status).toBe("finished");
  });

  test("M12: is refused where a file has changed that an environment's tasks are made from", async () => {
    const path = join(temporaryDirectory(), "tasks.txt");
    writeFileSync(path, "1\n2\n");
    const config = { ...QUICK, environments: [{ id: "letters-of-file", options: { path } }] };
    const directory = await stoppedAfter(3, config);
    writeFileSync(path, "1\n3\n");
    expect(await failure(resume(directory, config))).toMatchObject({
      code: "CHECKPOINT_MISMATCH",
      message: expect.stringMatching(/letters-of-file@1: \S*tasks\.txt: "\w{64}" -> "\w{64}"/),
      hint: expect.stringContaining("Put the files back"),
    });
    writeFileSync(path, "1\n2\n");
    expect((await resume(directory, config)).summary.status).toBe("finished");
  });

  test("M12: reports that another sampling.concurrency may change last bits", async () => {
    const directory = await stoppedAfter(3);
    const { notices, summary } = await resume(directory, { ...QUICK, sampling: { max_tokens: 8, concurrency: 3 } });
    expect([notices, summary.status]).toEqual([
      [expect.stringMatching(/^sampling\.concurrency: 256 -> 3: .*last bits/)],
      "finished",
    ]);
  });

  test("may take other memory", async () => {
    const directory = await stoppedAfter(3);
    const loads: unknown[] = [];
    const engine = new Proxy(new BigramEngine() as Engine, {
      get: (target, property: keyof Engine) =>
        property === "load"
          ? (...given: Parameters<Engine["load"]>) => (loads.push(given[1]), target.load(...given))
          : target[property].bind(target),
    });
    const { notices } = await resume(
      directory,
      { ...QUICK, model: { ...CONFIG.model, micro_batch_tokens: 64 } },
      { engine },
    );
    expect([loads, notices]).toEqual([
      [{ microBatchTokens: 64 }],
      [expect.stringContaining("model.micro_batch_tokens: nothing -> 64")],
    ]);
  });

  test("reports versions and devices that have changed, by name", async () => {
    const directory = await stoppedAfter(3);
    const record = JSON.parse(readFileSync(join(directory, "run.json"), "utf8"));
    writeFileSync(
      join(directory, "run.json"),
      JSON.stringify({
        ...record,
        versions: { ...record.versions, engine: { ...record.versions.engine, torch: "1.0" } },
      }),
    );
    const { notices } = await resume(directory);
    expect(notices).toEqual([expect.stringContaining('engine.torch: "1.0" -> "none"')]);
    expect(JSON.parse(readFileSync(join(directory, "run.json"), "utf8"))).toMatchObject({
      started: record.started,
      resumed: [{ from: expect.stringContaining("00000003-1") }],
      status: "finished",
    });
  });
});

describe("a run that is over", () => {
  test("is known as such, and can be made longer: with a constant schedule the weights are those of a run that was longer from the beginning", async () => {
    const longer = { ...QUICK, stages: [QUICK.stages[0], { ...QUICK.stages[1], steps: 5 }] };
    const whole = await train(longer);
    const short = await train(QUICK);
    const rows = steps(short.summary.directory);
    const opened = await openRun(short.summary.directory, () => undefined);
    expect(opened.finished).toEqual(short.summary);
    const extended = await openRun(short.summary.directory, () => undefined, 5);
    expect([extended.finished, extended.loaded.config.stages[1]?.learners["policy"]?.options["steps"]]).toEqual([
      undefined,
      5,
    ]);
    const { summary, notices } = await resume(short.summary.directory, longer);
    expect(notices).toEqual([
      expect.stringContaining("Stage reinforce now has 5 steps instead of 3. Its learning rate is constant"),
    ]);
    expect([summary.status, summary.steps]).toEqual(["finished", 7]);
    expect(weights({ summary, notices })).toEqual(weights(whole));
    expect((await openRun(summary.directory, () => undefined)).finished).toEqual(summary);
    // The evaluation at the end of what the run was at first stays.
    expect(steps(summary.directory)).toEqual([...rows, "iteration 6", "iteration 7", "evaluation 7"]);
  });

  test("can have a further stage, and be shorter than planned, but not than it is", async () => {
    const { summary } = await train(QUICK);
    const more = await resume(summary.directory, {
      ...QUICK,
      stages: [...QUICK.stages, { algorithm: "imitate", name: "again", steps: 2 }],
    });
    expect([more.summary.steps, more.notices]).toEqual([
      7,
      [expect.stringContaining("1 stage was added at the end: again.")],
    ]);
    const directory = await stoppedAfter(4);
    const shorter = { ...QUICK, stages: [QUICK.stages[0], { ...QUICK.stages[1], steps: 2 }] };
    expect(
      await failure(resume(directory, { ...shorter, stages: [QUICK.stages[0], { ...QUICK.stages[1], steps: 1 }] })),
    ).toMatchObject({
      message: expect.stringContaining("stage 2 has done 2 steps already: it cannot have 1"),
      hint: expect.stringContaining("Give it 2 or more"),
    });
    expect((await resume(directory, shorter)).summary).toMatchObject({ status: "finished", steps: 4 });
  });

  test("killed after its last checkpoint, it still measures and writes its model", async () => {
    const dying = new Proxy(new BigramEngine() as Engine, {
      get: (target, property: keyof Engine) =>
        property === "export"
          ? () => Promise.reject(new MrlmError("ENGINE_EXITED", "killed"))
          : target[property].bind(target),
    });
    const { hint } = await failure(train(QUICK, { engine: dying }));
    const directory = /--resume (\S+)/.exec(hint)?.[1] as string;
    expect((await openRun(directory, () => undefined)).finished).toBeUndefined();
    const { summary } = await resume(directory);
    expect([summary.status, existsSync(join(directory, "model"))]).toEqual(["finished", true]);
    expect(steps(directory)).toEqual([
      "evaluation 0",
      "iteration 1",
      "iteration 2",
      "evaluation 2",
      "iteration 3",
      "iteration 4",
      "iteration 5",
      "evaluation 5",
    ]);
  });
});

describe("nothing is spoilt", () => {
  test("by a second process: a run is trained by one at a time, and is free when that one has gone", async () => {
    const directory = await stoppedAfter(3);
    const lock = RunDirectory.open(directory).lock();
    expect(await failure(resume(directory))).toMatchObject({
      code: "RUN_IN_USE",
      message: expect.stringContaining(directory),
    });
    lock.release();
    expect((await resume(directory)).summary.status).toBe("finished");
  });

  test("by a second process with the same engine: only who has the run releases the models in it", async () => {
    const directory = await stoppedAfter(3);
    const engine = new BigramEngine();
    const { run, checkpoint } = await openRun(directory, () => undefined);
    await engine.createModel({
      model: "policy",
      role: "policy",
      source: { kind: "random", config: { model_type: "bigram", vocab_size: 8 }, seed: 0, tokenizerFiles: {} },
      trainable: true,
    });
    const models = async (): Promise<string[]> => (await engine.describe()).models.map(({ model }) => model);
    const shared = { run, engine, isEngineShared: true, ...(checkpoint === undefined ? {} : { checkpoint }) };
    const lock = run.lock();
    expect(await failure(train(QUICK, shared))).toMatchObject({ code: "RUN_IN_USE" });
    expect(await models()).toEqual(["policy"]);
    lock.release();
    expect((await train(QUICK, shared)).summary.status).toBe("finished");
    expect(await models()).toEqual([]);
  });

  test("by a checkpoint that the engine cannot load: later ones and their metrics stay", async () => {
    const directory = await stoppedAfter(4);
    const [before, rows] = [readdirSync(join(directory, "checkpoints")), steps(directory)];
    const earlier = join(directory, "checkpoints", "00000001-0");
    const failing = new Proxy(new BigramEngine() as Engine, {
      get: (target, property: keyof Engine) =>
        property === "load"
          ? () => Promise.reject(new MrlmError("CHECKPOINT_MISMATCH", "another torch"))
          : target[property].bind(target),
    });
    expect(await failure(resume(earlier, QUICK, { engine: failing }))).toMatchObject({ message: "another torch" });
    expect([readdirSync(join(directory, "checkpoints")), steps(directory)]).toEqual([before, rows]);
    expect((await resume(earlier)).notices).toEqual([
      expect.stringMatching(/goes back to step 1: later checkpoints are removed \(.*00000004-1.*\)/),
    ]);
  });

  test("by models of a killed run in an engine that continues", async () => {
    const engine = new BigramEngine();
    const failing = new Proxy(engine as Engine, {
      get: (target, property: keyof Engine) =>
        property === "save"
          ? () => Promise.reject(new MrlmError("CANCELLED", "killed"))
          : target[property].bind(target),
    });
    const { hint } = await failure(train(QUICK, { engine: failing }));
    const { summary } = await resume(/--resume (\S+)/.exec(hint)?.[1] as string, QUICK, { engine });
    expect(weights({ summary, notices: [] })).toEqual(weights(await train(QUICK)));
  });

  (existsSync("/dev/full") ? test : test.skip)(
    "by a full disk: the error states it, the previous checkpoint is complete, and with free space the run resumes (skipped without /dev/full)",
    async () => {
      const directory = await stoppedAfter(3);
      const metrics = join(directory, "metrics.jsonl");
      const kept = readFileSync(metrics);
      const full = await openRun(directory, () => undefined);
      const { prepared, host } = await prepare(QUICK);
      const onEvent = (event: RunEvent): void => {
        if (event.kind !== "stage") return;
        rmSync(metrics);
        symlinkSync("/dev/full", metrics);
      };
      const error = await failure(
        trainRun({
          prepared,
          host,
          engine: new BigramEngine(),
          onEvent,
          run: full.run,
          ...(full.checkpoint === undefined ? {} : { checkpoint: full.checkpoint }),
        }),
      );
      expect(error).toMatchObject({
        code: "WRITE_FAILED",
        message: expect.stringContaining("ENOSPC"),
        hint: expect.stringContaining(`--resume ${directory}`),
      });
      rmSync(metrics);
      writeFileSync(metrics, kept);
      expect(weights(await resume(directory))).toEqual(weights(await train(QUICK)));
    },
  );
});
